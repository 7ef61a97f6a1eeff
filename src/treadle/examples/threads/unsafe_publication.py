"""Unsafe publication: an object registers itself before its constructor is done, and is used half made."""

import treadle


class Registry:
    def __init__(self) -> None:
        self.plugins: list[Plugin] = []

    def total(self) -> int:
        return sum(plugin.weight for plugin in list(self.plugins))


class Plugin:
    def __init__(self, registry: Registry) -> None:
        registry.plugins.append(self)  # from here on other threads can see it
        self.weight = 1


class WholePlugin(Plugin):
    def __init__(self, registry: Registry) -> None:
        self.weight = 1
        registry.plugins.append(self)


def test_buggy_plugin() -> None:
    registry = Registry()
    treadle.parallel(lambda: Plugin(registry), registry.total)


def test_fixed_plugin() -> None:
    registry = Registry()
    treadle.parallel(lambda: WholePlugin(registry), registry.total)
