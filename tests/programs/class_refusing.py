"""A class without hints, whose methods refuse most of what they are given; a lazy object that cannot be asked."""


class Gauge:
    def __init__(self, name, tags):
        self.points = []

    def add(self, value):
        self.points.append(value + 1)


class Metric:
    """The base of gauges."""

    def add(self, value):
        raise NotImplementedError


class Aggregator:
    """What it takes shows only when it is called."""

    def __init__(self):
        self.intervals = {}

    def add_point(self, metric, labels, moment, amount, gauge_class):
        interval = moment - moment % 10
        key = (metric, tuple(sorted(labels)))
        if key not in self.intervals.setdefault(interval, {}):
            self.intervals[interval][key] = gauge_class(metric, labels)
        self.intervals[interval][key].add(amount)

    def due(self, moment):
        moment.utctimetuple()
        return sum(len(one.points) for gauges in self.intervals.values() for one in gauges.values())


class Silent(Aggregator):
    """Changes itself where its base does not."""

    def note(self, word):
        raise ValueError(word)

    def due(self, moment):
        self.intervals = {}


class _Lazy:
    @property
    def __class__(self):
        raise RuntimeError("nothing is behind it yet")


lazy = _Lazy()
