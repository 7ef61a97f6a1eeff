"""Programs drawn at random from a number, to ask whether every finding replays in another process.

A program mixes what a schedule decides (threads, locks, containers, attributes) with what makes two runs differ when it
is not controlled: draws, clocks, hashes, addresses, imports on the way, caches, names of threads, the folder. What no
tool can fix (the order of a set of strings, a number made of an address) is used, but decides nothing and is not shown.
Run as a script, `search` prints the findings of a file of programs as JSON; `replay` reads them and prints, for each,
what a process forked from an empty one shows.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import treadle
from treadle.core.errors import TreadleError

VERDICTS = {verdict.name for verdict in treadle.Verdict}

HEAD = """
import asyncio, collections, contextvars, copy, dataclasses, enum, functools, gc, heapq, itertools, logging, math, os
import queue, random, secrets, tempfile, threading, time, uuid, weakref
from concurrent.futures import ThreadPoolExecutor
import treadle

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class Key:
    def __init__(self, name): self.name = name
    def __hash__(self): return hash(self.name)
    def __eq__(self, other): return self.name == other.name
    def __repr__(self): return f"Key({self.name!r})"

class Node:
    count = 0
    def __init__(self): self.n = 0; self.next = None; self.items = []
    @property
    def twice(self): return self.n * 2
    @functools.cached_property
    def heavy(self): return self.n + 1
    def add(self, by=1): self.n += by
    def __getattr__(self, name):
        if name.startswith("x_"): return len(name)
        raise AttributeError(name)

@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0

class Slotted:
    __slots__ = ("n", "__weakref__")
    def __init__(self): self.n = 0

@functools.lru_cache(maxsize=None)
def cached(k): STATE["made"] += 1; return [k]

STATE = {"made": 0, "total": 0}
NUMBER = 0
DRAWN = random.random()
TOKEN = uuid.uuid4().hex
LOG = logging.getLogger("replayed")
VAR = contextvars.ContextVar("var", default=0)

def numbers(n):
    for i in range(n): yield i
"""

# What a test has before its threads start; each name is shared by all of them.
_MAIN = """
    node, other, slotted, point = Node(), Node(), Slotted(), Point()
    a, b, c = threading.Lock(), threading.RLock(), threading.Condition()
    ready, box, heap = threading.Event(), queue.Queue(), []
    d, s, l, q = {"k": 0}, {1, 2, 3}, [1, 2], collections.deque([1, 2])
    counts, default, ordered = collections.Counter(), collections.defaultdict(list), collections.OrderedDict(k=1)
    it, gen, log, local = itertools.count(), numbers(3), [], threading.local()
    keys = [Key(n) for n in "ab"]
    nonlocals, ids = 0, {}
"""

# What a thread may do. `N` is a small number, `W` the thread's own name.
_STEPS = [
    "node.n += N",
    "node.add()",
    "x = node.n; node.n = x + N",
    "node.next = other; log.append(node.next.n)",
    "other.n = node.twice",
    "log.append(node.heavy)",
    "node.x_W = N; log.append(node.x_W)",
    "setattr(node, 'n', getattr(node, 'n') + 1)",
    "slotted.n += 1",
    "point.x += 1; log.append(point == Point(N))",
    "point = dataclasses.replace(point, y=N)",
    "Node.count += 1",
    "d['k'] += N",
    "d['W'] = d.get('k', 0)",
    "d.update({'k': N, 'z': len(d)})",
    "log.append(d.pop('k', None)); d['k'] = N",
    "for k in list(d): log.append(k)",
    "for k in d: log.append(k)",
    "log.append(sorted(d))",
    "s.add('W'); log.append(len(s)); s.discard('W')",
    "s.add(N + 5)",
    "for k in s: log.append(type(k).__name__)",
    "log.append(sorted(map(str, s))[0])",
    "log.append(s.pop() != 0)",
    "l.append(len(l))",
    "l += [N]",
    "l[0] = len(l); l[:] = l[1:] + l[:1]",
    "q.append(q.popleft())",
    "q.rotate(1); log.append(q[0])",
    "counts['W'] += 1; counts['all'] += 1",
    "default['N'].append(len(default))",
    "ordered.move_to_end('k'); ordered['W'] = 1",
    "log.append(next(it))",
    "log.append(next(gen, None))",
    "heapq.heappush(heap, N); log.append(heap[0])",
    "d[keys[N % 2]] = N; log.append(d[keys[N % 2]])",
    "log.append({Key('a'): 1}.get(keys[0]))",
    "log.append(random.randrange(3)); node.n += log[-1]",
    "log.append(random.choice(l) if l else 0)",
    "random.shuffle(l)",
    "log.append(DRAWN < 2)",
    "log.append(uuid.uuid4().int % 7)",
    "log.append(secrets.randbelow(5))",
    "log.append(os.urandom(1)[0] % 3)",
    "log.append(random.Random(N).random() < 0.5)",
    "log.append(random.Random().randrange(4))",
    "log.append(hash('W') == hash('bob'))",
    "log.append(time.time() % 1)",
    "t = time.monotonic(); time.sleep(N / 10); log.append(time.monotonic() - t >= N / 10)",
    "time.sleep(0.N)",
    "log.append(threading.current_thread().name)",
    "d[threading.get_ident()] = N",
    "ids[id(node)] = N; log.append(ids[id(node)])",
    "log.append(len(repr(node)) > 0)",
    "log.append(str(uuid.uuid1())[:0])",
    "local.n = N; log.append(local.n)",
    "VAR.set(VAR.get() + 1); log.append(VAR.get())",
    "cached(N).append(0); log.append(len(cached(N)))",
    "cached.cache_clear()",
    "STATE['total'] += 1",
    "global NUMBER; NUMBER += 1",
    "nonlocal nonlocals; nonlocals += 1",
    "import string; log.append(len(string.digits))",
    "import sidecar; sidecar.COUNT += 1; log.append(sidecar.COUNT)",
    "import sidecar; log.append(sidecar.draw() < 0.5)",
    "from sidecar import LIST; LIST.append(N); log.append(len(LIST))",
    "log.append(os.path.basename(os.getcwd()) == 'nowhere')",
    "log.append(os.environ.setdefault('REPLAYED_W', 'W'))",
    "LOG.warning('W %s', node.n)",
    "copied = copy.deepcopy(node.items); copied.append(N); node.items = copied",
    "ref = weakref.ref(slotted); log.append(ref() is slotted)",
    "log.append(Color(1 + N % 2).name)",
    "log.append(f'{node.n}-{len(l)}')",
    "log.append([y for y in (1, 2) if y in l])",
    "ready.set()",
    "log.append(ready.is_set())",
    "ready.wait(N)",
    "box.put(N)",
    "log.append(box.get(timeout=1))",
    "log.append(box.qsize())",
    "try:\n    log.append(box.get_nowait())\nexcept queue.Empty:\n    log.append('empty')",
    "with a:\n    node.n += 1\n    BODY",
    "with b:\n    other.n += 1\n    BODY",
    "with c:\n    c.notify_all()\n    BODY",
    "with c:\n    log.append(c.wait(timeout=N))",
    "with a, b:\n    BODY",
    "with b, a:\n    BODY",
    "if a.acquire(blocking=False):\n    node.n += 1\n    a.release()",
    "if node.n > N:\n    BODY",
    "if 'W' not in d:\n    d['W'] = 1\n    BODY",
    "for i in range(2):\n    BODY",
    "try:\n    BODY\nfinally:\n    log.append('W')",
    "try:\n    BODY\nexcept (KeyError, RuntimeError, ValueError) as e:\n    log.append(type(e).__name__)",
    "inner = threading.Thread(target=lambda: node.add(N)); inner.start(); inner.join()",
    "with ThreadPoolExecutor(2) as pool:\n    log.append(sum(pool.map(lambda i: node.n + i, [1, 2])))",
    "timer = threading.Timer(N / 10, node.add); timer.start()",
    "with tempfile.TemporaryDirectory() as folder:\n    log.append(len(os.listdir(folder)))",
    "async def main():\n    await asyncio.sleep(0.1)\n    node.n += 1\nasyncio.run(main())",
    "if node.n == N and other.n:\n    raise ValueError(f'{node.n} {len(log)}')",
    "assert len(l) < 4, l",
    "assert node.n != N, (node.n, d.get('k'))",
]

# What is asked at the end; most of it holds in some schedules only.
_ASKED = [
    "assert node.n == len(log), (node.n, len(log))",
    "assert log == sorted(log, key=str), log",
    "assert d.get('k') == N, sorted(map(str, d))",
    "assert STATE['total'] + NUMBER + nonlocals <= N",
    "assert len(l) <= 2 + N and counts['all'] < 2, l",
    "assert not log or log[0] == log[-1]",
    "assert Node.count < N and slotted.n < 2, (Node.count, slotted.n)",
    "assert list(ordered)[0] == 'k' and list(q) == [1, 2], q",
    "assert node.items == [] and other.n == 0",
]


def _step(chance: random.Random, who: str, depth: int) -> list[str]:
    text = chance.choice(_STEPS)
    while depth > 1 and "BODY" in text:
        text = chance.choice(_STEPS)
    text = re.sub(r"\bN\b", str(chance.randint(1, 3)), text.replace("0.N", f"0.{chance.randint(1, 3)}"))
    text = re.sub(r"W\b", who, text)
    lines: list[str] = []
    for line in text.split("\n"):
        space = line[: len(line) - len(line.lstrip())]
        if line.strip() == "BODY":
            inner = [one for _ in range(chance.randint(1, 2)) for one in _step(chance, who, depth + 1)]
            lines += [space + one for one in inner]
        else:
            lines.append(line)
    return lines


def _thread(chance: random.Random, who: str) -> list[str]:
    body = [line for _ in range(chance.randint(1, 4)) for line in _step(chance, who, 0)]
    declared = sorted({word for line in body for word in re.findall(r"(?:global|nonlocal) \w+", line)})
    body = [re.sub(r"(?:global|nonlocal) \w+; ", "", line) for line in body]
    if any(re.search(r"\bl \+= |\bpoint = ", line) for line in body):
        declared.append("nonlocal l, point")
    return [f"    def {who}():"] + ["        " + line for line in declared + body]


def test(chance: random.Random, name: str) -> str:
    """The source of one test."""
    who = ["ann", "bob", "cy"][: 2 + (chance.random() < 0.3)]
    lines = [f"def {name}():", _MAIN.strip("\n")]
    for one in who:
        lines += _thread(chance, one)
    manner = chance.randrange(3)
    if manner == 0:
        lines.append(f"    treadle.parallel({', '.join(who)})")
    elif manner == 1:
        lines.append(f"    threads = [threading.Thread(target=f) for f in ({', '.join(who)})]")
        lines += ["    for t in threads: t.start()", "    for t in threads: t.join()"]
    else:
        lines.append("    with ThreadPoolExecutor(2) as pool:")
        lines.append(f"        for future in [pool.submit(f) for f in ({', '.join(who)})]: future.result()")
    lines += ["    " + re.sub(r"\bN\b", str(chance.randint(1, 4)), chance.choice(_ASKED)) for _ in range(2)]
    return "\n".join(lines) + "\n"


SIDECAR = "import random\nCOUNT = 0\nLIST = []\nSEEN = random.random()\ndef draw(): return random.random()\n"


def write(folder: Path, seed: int, number: int) -> Path:
    """A file of so many tests, and the module beside it that some of them import on the way."""
    chance = random.Random(seed)
    path = folder / f"replayed_{seed}.py"
    path.write_text(HEAD + "".join("\n" + test(chance, f"test_{n}") for n in range(number)))
    (folder / "sidecar.py").write_text(SIDECAR)
    return path


def _loaded(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    return importlib.import_module(path.stem)


def _plain(message: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", message)


def _search(path: Path, executions: int) -> None:
    module = _loaded(path)
    for name in [name for name in vars(module) if name.startswith("test_")]:
        try:
            result = treadle.check(getattr(module, name), executions=executions)
        except TreadleError as error:
            print(json.dumps({"name": name, "verdict": type(error).__name__, "reason": str(error)}))
            continue
        line = {"name": name, "verdict": result.verdict.name, "reason": result.reason, "findings": []}
        line["findings"] = [(f.replay, f.kind, _plain(f.message), f.notes) for f in result.findings]
        print(json.dumps(line), flush=True)


def _replay(path: Path) -> None:
    """One process for each string: forked before anything of the program was imported."""
    for line in sys.stdin:
        told = json.loads(line)
        for string, kind, message, _ in told.get("findings", []):
            if os.fork() == 0:
                try:
                    result = treadle.replay(string, getattr(_loaded(path), told["name"]))
                    shown = [(f.kind, _plain(f.message)) for f in result.findings]
                except TreadleError as error:
                    shown = [("error", str(error))]
                if shown != [(kind, message)]:
                    print(json.dumps({"name": told["name"], "replay": string, "was": [kind, message], "is": shown}))
                sys.stdout.flush()
                os._exit(0)
            os.wait()


if __name__ == "__main__":
    if sys.argv[1] == "search":
        _search(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        _replay(Path(sys.argv[2]))
