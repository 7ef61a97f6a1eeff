"""Actors that never come to an end."""

import threading

import pykka


class Forever(pykka.ThreadingActor):
    def on_receive(self, message):
        while True:
            pass


def test_a_handler_that_never_ends():
    actor = Forever.start()
    actor.tell("go")
    actor.stop(block=False)


def test_a_handler_that_never_ends_with_an_actor_beside_it():
    actor, other = Forever.start(), Forever.start()
    actor.tell("go")
    actor.stop()
    other.stop()


class Ping(pykka.ThreadingActor):
    def on_receive(self, message):
        self.actor_ref.tell("again")


def test_messages_without_end():
    Ping.start().tell("go")
    threading.Event().wait()
