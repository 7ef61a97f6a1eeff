"""A module whose only class is an exception: its functions are what is shared."""

_names = {}


class TakenError(Exception):
    pass


def take(name: str):
    if name in _names:
        raise TakenError(name)
    _names[name] = len(_names)
    return _names[name]
