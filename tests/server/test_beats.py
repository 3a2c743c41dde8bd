"""Signs of life: who beats is left alone, who has fallen silent is named."""

from __future__ import annotations

import threading

from ldptrace.errors import LdptraceError
from ldptrace.server.beats import SILENT, Listener, Running, beating


def release(beat: int, attempt: str = "a") -> Running:
    return Running("trips", 3, attempt, 0, beat)


def test_a_release_is_silent_when_its_beat_has_not_grown() -> None:
    listener = Listener()
    assert listener.silent([release(0)], 0.0) == []
    assert listener.silent([release(1)], SILENT - 1) == []
    assert listener.silent([release(1)], 2 * SILENT - 2) == []
    assert listener.silent([release(1)], 2 * SILENT - 1) == [release(1)]
    # Another attempt has all the time again; what is no longer running is forgotten.
    assert listener.silent([release(1, "b")], 2 * SILENT) == []
    assert listener.silent([], 5 * SILENT) == []
    assert listener.silent([release(1, "b")], 5 * SILENT) == []


def test_somebody_who_works_beats_until_the_work_is_done_even_if_the_database_is_away() -> None:
    beats, enough = [0], threading.Event()

    def beat() -> None:
        beats[0] += 1
        if beats[0] == 1:
            raise LdptraceError("the database is away")
        enough.set()

    with beating(beat, every=0.001):
        assert enough.wait(10)
    last = beats[0]
    assert last >= 2
    assert all(one.name != "beating" for one in threading.enumerate())
