"""An actor library that only the test itself imports."""

import threading


def test_imported_inside():
    import pykka

    class Recorder(pykka.ThreadingActor):
        got: list = []

        def on_receive(self, message):
            self.got.append(message)

    Recorder.got = []
    actor = Recorder.start()
    threads = [threading.Thread(target=actor.tell, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    actor.stop()
    assert Recorder.got == ["one", "two"]
