"""Packages for the next list of `benchmarks.wild`: chosen by rules, in an order drawn by a seed, read by nobody.

    python -m benchmarks.wild_list --index ADDRESS --seed 9 --skip 60 --number 80 > benchmarks/wild_packages_9.txt

Takes names of the whole package index in two orders by turns: any name, and names with a word of concurrent programs in
them (`_WORDS`), of which more have threaded tests. A package is kept when

- no earlier list and no page of docs names it;
- it has at least `_RELEASES` source distributions, of which the last says which Pythons it needs, and is at most
  `_MOST_BYTES` large;
- nothing in it has to be compiled (`_COMPILED`);
- a file of tests in it makes a thread or a pool (`_STARTS`).

The tests are looked at by that expression only. What is downloaded is not kept. The answers come in the order in which
names were drawn, whichever is there first, so the same index gives the same list.
"""

from __future__ import annotations

import argparse
import io
import itertools
import random
import re
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_WORDS = "thread queue cache lock pool worker limit retry schedul event bus stream sync async concurren parallel actor"
_WORDS += " pubsub signal server client proxy rpc task job buffer context inject registry lazy pipe throttl atomic log"
_RELEASES, _MOST_BYTES = 5, 3_000_000
_COMPILED = (".pyx", ".c", ".cc", ".cpp", ".rs", "Cargo.toml", "CMakeLists.txt", "meson.build")
_STARTS = re.compile(rb"\bThread\(|\bThreadPoolExecutor\(|\bThreadPool\(")
_TESTS = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests)\.py$")
_LINK = re.compile(r'<a href="([^"#]+\.tar\.gz)[^"]*"([^>]*)>')
_NAME = re.compile(r'<a href="(?:[^"]*/)?([a-z0-9][a-z0-9-]*)/"')
_HERE = Path(__file__).parent
_AT_ONCE = 8


def fetched(address: str, most: int = -1) -> bytes:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return b"" if 0 <= most < int(answer.headers.get("Content-Length") or 0) else answer.read()


def names_seen() -> set[str]:
    """Names that were in a list, or stand on a page: their tests may have been read."""
    seen = {name.partition("==")[0] for path in _HERE.glob("*packages*.txt") for name in path.read_text().split()}
    pages = [*(_HERE.parent / "docs").rglob("*.md"), *_HERE.glob("*.md"), *_HERE.glob("*.json"), *_HERE.glob("*.py")]
    for path in pages:
        seen |= set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", path.read_text(encoding="utf-8").lower().replace("_", "-")))
    words = ["git", "log", "--all", "-p", "--format=", "--", "benchmarks/wild.py", "benchmarks/wild_packages.txt"]
    done = subprocess.run(words, cwd=_HERE.parent, capture_output=True, text=True, check=True)
    return seen | {word.strip("\"',+ ") for word in done.stdout.split()}


def is_wanted(index: str, name: str) -> bool:
    """Do the rules at the top let this package through?"""
    try:
        links = _LINK.findall(fetched(f"{index}/{name}/").decode())
        if len(links) < _RELEASES or "data-requires-python" not in links[-1][1]:
            return False
        packed = fetched(links[-1][0], _MOST_BYTES)
        return bool(packed) and _has_threaded_tests(packed)
    except (OSError, tarfile.TarError, EOFError, ValueError):
        return False


def _has_threaded_tests(packed: bytes) -> bool:
    found = False
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        for member in archive:
            if member.name.endswith(_COMPILED):
                return False
            if not found and member.isfile() and _TESTS.search(member.name):
                file = archive.extractfile(member)
                found = file is not None and bool(_STARTS.search(file.read()))
    return found


def by_turns(names: Iterable[str], seed: str) -> Iterator[str]:
    """Any name, then one with a telling word in it, in an order drawn by a seed; each once."""
    everything = sorted(set(names))
    random.Random(seed).shuffle(everything)
    telling = [name for name in everything if any(word in name for word in _WORDS.split())]
    pairs = itertools.zip_longest(everything, telling)
    return iter(dict.fromkeys(name for pair in pairs for name in pair if name))


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose packages whose tests start threads.")
    parser.add_argument("--seed", default="9")
    parser.add_argument("--skip", type=int, default=0, help="the first ones are to develop with")
    parser.add_argument("--number", type=int, default=80, help="so many packages")
    parser.add_argument("--index", required=True, help="the address of a simple index with all names")
    given = parser.parse_args()
    seen = names_seen()
    names = [name for name in _NAME.findall(fetched(f"{given.index}/").decode()) if name not in seen]
    order = by_turns(names, given.seed)
    found = tried = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        while found < given.skip + given.number:
            some = list(itertools.islice(order, 10 * _AT_ONCE))
            for name, wanted in zip(some, pool.map(is_wanted, itertools.repeat(given.index), some), strict=True):
                tried += 1
                if wanted and found < given.skip + given.number:
                    found += 1
                    if found > given.skip:
                        print(name, flush=True)
                    print(f"{found} of {tried}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
