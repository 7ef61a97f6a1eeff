"""Event loops with threads beside them."""

from concurrent.futures import ThreadPoolExecutor
import asyncio
import functools

from .truth import fails, holds


class Box:
    n = 0

    def add(self):
        self.n = self.n + 1


@fails
def future_set_from_thread():
    async def main():
        loop = asyncio.get_running_loop()
        f = loop.create_future()

        def finish():
            if not f.done():
                loop.call_soon_threadsafe(f.set_result, 1)

        await asyncio.gather(asyncio.to_thread(finish), asyncio.to_thread(finish))
        await asyncio.sleep(0)

    errors = []

    async def outer():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context))
        await main()

    asyncio.run(outer())
    assert not errors


@fails
def async_generator_in_two_tasks():
    async def gen():
        for i in range(2):
            await asyncio.sleep(0)
            yield i

    async def main():
        g = gen()
        await asyncio.gather(g.__anext__(), g.__anext__())

    asyncio.run(main())


@fails
def lazy_task_made_twice():
    class Client:
        session = None

        async def get(self):
            if self.session is None:
                await asyncio.sleep(0)
                self.session = object()
            return self.session

    async def main():
        c = Client()
        a, b = await asyncio.gather(c.get(), c.get())
        assert a is b

    asyncio.run(main())


@fails
def executor_of_its_own_with_cache():
    calls = []

    @functools.cache
    def load(x):
        calls.append(x)
        return x

    async def main():
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(2) as pool:
            await asyncio.gather(loop.run_in_executor(pool, load, 1), loop.run_in_executor(pool, load, 1))

    asyncio.run(main())
    assert calls == [1]


@holds
def ok_threadsafe_handover():
    box = Box()

    async def main():
        loop = asyncio.get_running_loop()

        def ask():
            loop.call_soon_threadsafe(box.add)

        await asyncio.gather(asyncio.to_thread(ask), asyncio.to_thread(ask))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert box.n == 2
