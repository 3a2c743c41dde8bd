"""Travellers for the live map: within the map, about as many as wanted, and a stream that ends when it is told to."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.server import streets as travellers
from ldptrace.server.streets import STEPS
from server_kit import SINGLE

TRIPS = Trajectories(
    np.array([0.0, 3.0, 6.0, 1.0, 1.0, 2.0, 2.0]),
    np.array([0.0, 3.0, 9.0, 1.0, 5.0, 2.0, 2.0]),
    np.array([0, 3, 5, 7]),
)


def test_trips_are_steps_within_the_map() -> None:
    document = json.loads(travellers.write_travellers(TRIPS, SINGLE))
    # The third stays where it is; what leaves the map ends at its border.
    long, short = document["trips"]
    assert long[1:] == [0, 0, STEPS // 2, STEPS // 2, STEPS // 2, STEPS // 2]
    assert short[1:] == [683, 683, 0, 2730]
    assert long[0] > short[0] >= travellers.LEAST


def test_a_trip_takes_as_long_as_the_model_says() -> None:
    timed = replace(TRIPS, t=np.array([0.0, 50.0, 100.0, 0.0, 300.0, 0.0, 10.0]))
    quick, slow = json.loads(travellers.write_travellers(timed, SINGLE))["trips"]
    # The one that is shorter on the map takes three times as long.
    assert (quick[0], slow[0]) == (15.0, 45.0)


def messages(data: bytes, beats: int) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        left = [beats]

        def stopped() -> bool:
            left[0] -= 1
            return left[0] < 0

        found = []
        async for text in travellers.stream(data, stopped, random.Random(1)):
            kind, body, *_ = text.split("\n")
            assert kind == "event: travellers"
            found.append(json.loads(body.removeprefix("data: ")))
        return found

    return asyncio.run(read())


def test_the_stream_keeps_as_many_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(travellers, "BEAT", 0.001)
    data = travellers.write_travellers(TRIPS, SINGLE)
    begin, *later = messages(data, 3)
    assert len(begin["trips"]) == travellers.MOVING
    assert all(-trip[1] <= trip[0] <= 0 for trip in begin["trips"])
    assert len(later) == 3
    assert all(0 <= trip[0] <= 0.01 for one in later for trip in one["trips"])


def test_without_a_trip_there_is_no_stream() -> None:
    empty = Trajectories(np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64))
    assert messages(travellers.write_travellers(empty, SINGLE), 3) == []
