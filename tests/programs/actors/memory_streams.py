"""Programs over anyio's memory object streams, which know nothing of mailboxes."""

import math

import anyio


async def producers(size):
    send, receive = anyio.create_memory_object_stream(size)
    got = []

    async def produce(name, end):
        async with end:
            await end.send(name)

    async with anyio.create_task_group() as group:
        for name in "ab":
            group.start_soon(produce, name, send.clone())
        send.close()
        async with receive:
            async for item in receive:
                got.append(item)
    return got


async def test_order():
    assert await producers(math.inf) == ["a", "b"]


async def test_everything_comes():
    assert sorted(await producers(0)) == ["a", "b"]


async def test_limited():
    assert sorted(await producers(1)) == ["a", "b"]


async def test_nobody_receives():
    send, receive = anyio.create_memory_object_stream(1)
    receive.close()
    try:
        await send.send(1)
    except anyio.BrokenResourceError:
        return
    raise AssertionError("it was sent")
