"""Sending at the end of a program: whoever is told something after it was stopped misses nothing."""

import pykka


def post(ref, message):
    """Tell, unless the receiver was stopped already."""
    try:
        ref.tell(message)
    except pykka.ActorDeadError:
        pass
