"""A plugin of pytest: whoever imports the file TREADLE_FILE gets the text of TREADLE_MUTANT."""

import importlib.machinery
import importlib.util
import os

_FILE, _MUTANT = os.environ["TREADLE_FILE"], os.environ["TREADLE_MUTANT"]
_read = importlib.machinery.SourceFileLoader.get_data


def _get_data(self, path):
    if path == _FILE:
        return _read(self, _MUTANT)
    if path.endswith(".pyc") and importlib.util.source_from_cache(path) == _FILE:
        raise OSError("compiled from the original")
    return _read(self, path)


importlib.machinery.SourceFileLoader.get_data = _get_data
