"""Its functions share a dictionary."""

_known: dict = {}


class Missing(Exception):
    pass


def register(name):
    if name not in _known:
        _known[name] = object()
    return _known[name]


def forget(name):
    if name in _known:
        del _known[name]
