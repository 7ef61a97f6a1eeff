"""Files that several threads reach by their names: check and act, read and write, lists of folders."""

import os
import pathlib
import shutil
import tempfile

from treadle import parallel

from .truth import fails, holds


def scratch(program):
    """The program gets a folder of its own, which is gone afterwards."""

    def run():
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            program(folder)
        finally:
            shutil.rmtree(folder)

    run.__module__ = program.__module__
    run.__name__, run.__qualname__ = program.__name__, program.__qualname__
    return run


@fails
@scratch
def file_made_once(folder):
    made = []

    def make():
        if not (folder / "flag").exists():
            (folder / "flag").write_text("x")
            made.append(1)

    parallel(make, make)
    assert made == [1]


@fails
@scratch
def file_seen_while_it_is_empty(folder):
    path = folder / "config"
    path.write_text("old")
    _, seen = parallel(lambda: path.write_text("new"), path.read_text)
    assert seen in ("old", "new")


@holds
@scratch
def file_replaced_in_one_go(folder):
    path = folder / "config"
    path.write_text("old")

    def write():
        (folder / "next").write_text("new")
        os.replace(folder / "next", path)

    _, seen = parallel(write, path.read_text)
    assert seen in ("old", "new")


@fails
@scratch
def counter_in_a_file(folder):
    path = os.path.join(folder, "count")
    with open(path, "w") as f:
        f.write("0")

    def add():
        with open(path) as f:
            n = int(f.read() or 0)
        with open(path, "w") as f:
            f.write(str(n + 1))

    parallel(add, add)
    with open(path) as f:
        assert f.read() == "2"


@fails
@scratch
def file_gone_between_look_and_removal(folder):
    path = str(folder / "lock")
    open(path, "w").close()

    def remove():
        if os.path.exists(path):
            os.remove(path)

    parallel(remove, remove)


@holds
@scratch
def file_made_exclusively(folder):
    made = []

    def make():
        try:
            with open(folder / "flag", "x"):
                made.append(1)
        except FileExistsError:
            pass

    parallel(make, make)
    assert made == [1]


@holds
@scratch
def folder_made_if_it_is_missing(folder):
    parallel(*[lambda: os.makedirs(folder / "cache", exist_ok=True)] * 2)


@fails
@scratch
def folder_not_there_yet(folder):
    parallel(lambda: (folder / "d").mkdir(), lambda: (folder / "d" / "file").write_text("x"))


@fails
@scratch
def list_of_a_folder(folder):
    _, seen = parallel(lambda: (folder / "new").touch(), lambda: os.listdir(folder))
    assert not seen


@fails
@scratch
def files_of_a_folder_by_pattern(folder):
    _, seen = parallel(lambda: (folder / "a.txt").touch(), lambda: [p.name for p in folder.glob("*.txt")])
    assert not seen


@fails
@scratch
def file_under_two_names(folder):
    (folder / "data").write_text("0")
    os.symlink(folder / "data", folder / "link")
    _, seen = parallel(lambda: (folder / "data").write_text("1"), (folder / "link").read_text)
    assert seen == "0"


@fails
@scratch
def lines_appended_and_read(folder):
    path = folder / "log"
    path.touch()

    def append():
        with open(path, "a") as f:
            f.write("one\n")

    def read():
        with open(path) as f:
            return [line for line in f]

    assert parallel(append, read)[1] == []


@fails
@scratch
def file_by_its_descriptor(folder):
    descriptor = os.open(folder / "data", os.O_RDWR | os.O_CREAT)
    try:
        assert parallel(lambda: os.write(descriptor, b"x"), lambda: os.stat(folder / "data").st_size)[1] == 0
    finally:
        os.close(descriptor)


@fails
@scratch
def file_copied_meanwhile(folder):
    (folder / "a").write_text("x")
    parallel(lambda: shutil.copy(folder / "a", folder / "b"), lambda: os.remove(folder / "a"))


@fails
@scratch
def folder_removed_meanwhile(folder):
    (folder / "d").mkdir()
    parallel(lambda: os.rmdir(folder / "d"), lambda: open(folder / "d" / "f", "w").close())


@holds
@scratch
def files_of_their_own(folder):
    def work(n):
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as f:
            f.write(str(n))
        with open(f.name) as f:
            return f.read()

    assert parallel(lambda: work(1), lambda: work(2)) == ["1", "2"]
