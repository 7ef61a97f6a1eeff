"""Pool deadlock: every worker of the pool waits for a task that needs a worker of the same pool."""

from concurrent.futures import ThreadPoolExecutor


def page(pool: ThreadPoolExecutor, name: str) -> str:
    picture = pool.submit(str.upper, name)
    return f"<{picture.result()}>"  # waits in a worker, for a worker


def test_buggy_pages() -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        pages = [pool.submit(page, pool, name) for name in ("a", "b")]
        assert [one.result() for one in pages] == ["<A>", "<B>"]


def test_fixed_pages() -> None:
    with ThreadPoolExecutor(max_workers=2) as pool, ThreadPoolExecutor(max_workers=1) as pictures:
        pages = [pool.submit(page, pictures, name) for name in ("a", "b")]
        assert [one.result() for one in pages] == ["<A>", "<B>"]
