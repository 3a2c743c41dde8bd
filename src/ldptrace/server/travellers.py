"""Synthetic travellers for a live map: trips as short lists of steps, which are sent one after the other.

The worker that makes a release writes some of its synthetic trips in this form. The stream repeats these trips, so that
about `MOVING` travellers are under way at any time.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ldptrace.server.streets import STEPS, in_steps, line_of

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.protocol.plan import Plan

FILE = "travellers.json"
# Trips that are kept for the map, and points of one.
KEPT, POINTS = 4_000, 48
# Travellers on their way at a time.
MOVING = 2_000
# Seconds on the screen that a trip of the middle length takes, and the least and the most.
MIDDLE, LEAST, MOST = 30.0, 8.0, 90.0
# Seconds between two messages of the stream.
BEAT = 1.0


def written(trips: Trajectories, plan: Plan) -> bytes:
    """Return some trips as JSON: seconds on the screen, the first point, and steps from point to point. The seconds are
    proportional to the duration of the trip, or to its length without times; a median trip takes `MIDDLE`.
    """
    across, up = (np.clip(steps, 0, STEPS) for steps in in_steps(trips.x, trips.y, plan))
    lines, durations = [], []
    for start, end in zip(trips.offsets[:-1].tolist(), trips.offsets[1:].tolist(), strict=True):
        places = np.unique(np.linspace(start, end - 1, min(POINTS, end - start)).round().astype(int))
        line = line_of(across[places], up[places])
        if line is not None:
            lines.append(line)
            length = float(np.hypot(line[2::2], line[3::2]).sum())
            durations.append(length if trips.t is None else float(trips.t[end - 1] - trips.t[start]))
    middle = max(float(np.median(durations)), 1e-9) if durations else 1.0
    seconds = [round(min(max(MIDDLE * taken / middle, LEAST), MOST), 1) for taken in durations]
    document = {"format": "ldptrace-travellers", "version": 1, "steps": STEPS}
    return json.dumps(
        document | {"trips": [[s, *line] for s, line in zip(seconds, lines, strict=True)]}
    ).encode()


async def stream(
    data: bytes, stopped: Callable[[], bool], chance: random.Random | None = None
) -> AsyncIterator[str]:
    """Yield server-sent events: at first as many as are on their way, then those that set out, beat by beat."""
    document: dict[str, Any] = json.loads(data)
    trips: list[list[float]] = document["trips"]
    if not trips:
        return
    chance = chance or random.Random()
    mean = sum(trip[0] for trip in trips) / len(trips)
    yield event("travellers", {"steps": document["steps"], "trips": first(trips, chance)})
    left = 0.0
    while not stopped():
        await asyncio.sleep(BEAT)
        left += MOVING / mean * BEAT
        new = [[round(chance.random() * BEAT, 2), *chance.choice(trips)] for _ in range(int(left))]
        left -= int(left)
        yield event("travellers", {"steps": document["steps"], "trips": new})


def first(trips: list[list[float]], chance: random.Random) -> list[list[float]]:
    """Return the travellers that are already under way, with negative start times. Long trips are more likely than
    short ones."""
    drawn = chance.choices(trips, weights=[trip[0] for trip in trips], k=MOVING)
    return [[round(-chance.random() * trip[0], 2), *trip] for trip in drawn]


def event(kind: str, data: dict[str, Any]) -> str:
    r"""Return one message of a stream of server-sent events.

    >>> event("hello", {"a": 1})
    'event: hello\ndata: {"a":1}\n\n'
    """
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
