"""Parts of functions that are exchanged while others call them, and variables that `exec` and `eval` are given."""

import functools

from .alternating import alternating


@alternating
def exec_globals():
    variables = {"x": 0}
    return lambda number: exec(f"x = {number}", variables), lambda: variables["x"]


@alternating
def exec_locals():
    variables = {"x": 0}
    return lambda number: exec(f"x = {number}", {}, variables), lambda: variables["x"]


@alternating
def exec_and_eval():
    variables = {"x": 0}
    return lambda number: exec(f"x = {number}", variables), lambda: eval("x", variables)


@alternating
def eval_of_an_attribute():
    class Box:
        x = 0

    box = Box()
    return lambda number: setattr(box, "x", number), lambda: eval("box.x", {"box": box})


@alternating
def partial_keywords():
    partial = functools.partial(lambda x: x, x=0)
    return lambda number: partial.keywords.update(x=number), lambda: partial()


@alternating
def function_code():
    def called():
        return 0

    codes = {1: (lambda: 1).__code__, 2: (lambda: 2).__code__, 3: (lambda: 3).__code__}

    def write(number):
        called.__code__ = codes[number]

    return write, lambda: called()


@alternating
def function_defaults():
    def called(x=0):
        return x

    def write(number):
        called.__defaults__ = (number,)

    return write, lambda: called()


@alternating
def function_defaults_by_setattr():
    def called(x=0):
        return x

    return lambda number: setattr(called, "__defaults__", (number,)), lambda: called.__defaults__[0]


@alternating
def function_keyword_defaults():
    def called(*, x=0):
        return x

    def write(number):
        called.__kwdefaults__ = {"x": number}

    return write, lambda: called()


@alternating
def function_keyword_default():
    def called(*, x=0):
        return x

    def write(number):
        called.__kwdefaults__["x"] = number

    return write, lambda: called()


@alternating
def method_defaults():
    class Box:
        def called(self, x=0):
            return x

    box = Box()

    def write(number):
        Box.called.__defaults__ = (number,)

    return write, lambda: box.called()


@alternating
def function_name():
    def called():
        pass

    def write(number):
        called.__name__ = str(number)

    return write, lambda: int(called.__name__) if called.__name__ != "called" else 0


@alternating
def function_doc():
    def called():
        pass

    called.__doc__ = 0

    def write(number):
        called.__doc__ = number

    return write, lambda: called.__doc__
