"""`python -m treadle`: the same as the `treadle` command."""

import os
import sys

if __name__ == "__main__":
    # The folder of a project may hold modules of the names of those that are needed here. Python has put it first, or
    # PYTHONPATH names it; commands look into it when it is its turn.
    sys.path[:] = [folder for folder in sys.path if folder not in ("", os.getcwd())]
    from treadle.cli.main import main

    main()
