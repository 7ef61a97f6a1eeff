"""Targets that `treadle unit` must refuse, or refuse to run, in one sentence."""

import math
import os
import socket


async def coroutine(n: int) -> int:
    return n


def unknown_type(thing):
    return thing.frobnicate()


def writes_a_file(n: int) -> int:
    if n > 0:
        with open("unit_bad_was_here.txt", "w") as stream:
            stream.write("x")
    return n


def removes(path: str) -> None:
    os.remove(path)


def network(n: int) -> int:
    if n == 1:
        socket.create_connection(("localhost", 1))
    return n


compiled = math.sqrt

generated = eval("lambda n: n + 1")


def unsupported_statement(n: int) -> int:
    if n > 0:

        class Inner:
            value = n

        return Inner.value
    return n


def never_supported(n: int) -> int:
    class Inner:
        value = n

    return Inner.value
