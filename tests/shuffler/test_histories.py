"""Histories of a whole collection, with whatever can go wrong: no acknowledged report is lost, none is counted twice,
and no two sets of one window ever leave the shuffler.

`LDPTRACE_HISTORIES=10000 pytest tests/shuffler/test_histories.py` runs as many, as every night.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shuffler_kit import HOUR
from world_kit import DEVICES, WINDOWS, World, begun, make_curator, seal_of

# Every test run plays the same histories; a longer one draws others each time, and a failure prints its own.
HISTORIES = int(os.environ.get("LDPTRACE_HISTORIES", "300"))
DRAWN = settings(
    deadline=None, suppress_health_check=list(HealthCheck), derandomize="LDPTRACE_HISTORIES" not in os.environ
)
Event = tuple[Any, ...]

_device, _window = st.integers(0, DEVICES - 1), st.integers(0, WINDOWS - 1)
_fault = st.sampled_from(["", "lost", "late", "unanswered", "twice"])
_who = st.sampled_from(["shuffler", "curator"])
_seconds = st.sampled_from([1.0, 60.0, HOUR / 4, HOUR / 2, HOUR])
_crowd = st.integers(1, DEVICES)
_off = st.sampled_from([0.0, -HOUR, -2.0 * HOUR, 60.0, HOUR, 3.0 * HOUR, 30.0 * HOUR])
_way = st.sampled_from(["file", "in place", "folder"])
# What happens at the same steps whatever the reports say.
BLIND = (
    st.tuples(st.just("send"), _device, _window, _fault)
    | st.tuples(st.just("crowd"), _crowd, _window)
    | st.tuples(st.just("time"), _seconds)
    | st.tuples(st.just("network"), _fault)
    | st.tuples(st.just("stop"), _who)
    | st.tuples(st.just("kill_await"), _who, st.integers(1, 60))
    | st.tuples(st.just("clock"), _who, _off)
    | st.tuples(st.just("keep"), st.sampled_from(["backup", "copy"]))
    | st.tuples(st.just("restore"), _way)
    | st.tuples(st.sampled_from(["keep_curator", "restore_curator"]))
)
# How many statements a report needs depends on where it stands in its table.
EVENTS = (
    BLIND
    | st.tuples(st.just("direct"), _device, _window, _fault)
    | st.tuples(st.just("kill_write"), _who, st.integers(1, 60))
    | st.tuples(st.just("full_write"), _who, st.integers(1, 60))
)


def play(world: World, events: Sequence[Event]) -> None:
    """Let these events happen, one after the other, and then let everything come to its end."""
    for name, *rest in events:
        if name == "send":
            world.send(*rest)
        elif name == "crowd":
            crowd, window = rest
            for device in range(crowd):
                world.send(device, window, "")
        elif name == "direct":
            world.send_directly(*rest)
        elif name == "time":
            world.pass_time(*rest)
        elif name == "network":
            world.put_faults.append(*rest)
        elif name == "stop":
            getattr(world, rest[0]).kill()
        elif name == "clock":
            setattr(world, f"{rest[0]}_off", rest[1])
        elif name == "keep":
            world.back_up(*rest)
        elif name == "restore":
            world.restore(*rest)
        elif name == "keep_curator":
            world.back_up_curator()
        elif name == "restore_curator":
            world.restore_curator()
        else:
            setattr(getattr(world, rest[0]).trouble, name, rest[1])
    world.end()


@pytest.fixture(scope="module")
def curators(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_curator(tmp_path_factory.mktemp("curator"))


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def run(curators: Path, events: Sequence[Event], **options: bool) -> World:
    with (
        tempfile.TemporaryDirectory(dir=_quick()) as folder,
        begun(Path(folder), curators, **options) as world,
    ):
        play(world, events)
        try:
            world.check()
        except AssertionError as error:
            raise AssertionError(f"{error}, after {list(events)}") from error
        return world


def _quick() -> str | None:
    """Memory, where there is some that looks like a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def leaves(how: str) -> list[Event]:
    """The batch of a window leaves; then the storage is set back to when the window was open, or had not begun."""
    return [
        ("send", 5, 0, ""),
        *[("time", HOUR)] * 3,
        ("restore", how),
        ("clock", "shuffler", -HOUR),
        ("crowd", 6, 0),
    ]


# The batch leaves and is not answered; then the clock goes back to when its window was open.
BACK = [
    ("crowd", 4, 0),
    ("network", "lost"),
    *[("time", HOUR)] * 3,
    ("clock", "shuffler", -HOUR),
    ("crowd", 6, 0),
]


# The batch leaves, its answer is lost, and the curator is set back to before it was counted: it is counted again, once.
CURATOR_BACK = [
    ("crowd", 4, 0),
    ("keep_curator",),
    ("network", "unanswered"),
    *[("time", HOUR)] * 3,
    ("restore_curator",),
]


# The batch of the first window has left; the storage is copied with reports of the second, whose batch leaves, and is
# then set back to the copy.
BETWEEN = [
    ("crowd", 5, 0),
    *[("time", HOUR)] * 2,
    ("time", 3 * HOUR / 4),
    ("crowd", 4, 1),
    ("keep", "copy"),
    ("send", 5, 1, ""),
    *[("time", HOUR)] * 3,
    ("restore", "file"),
    ("clock", "shuffler", -2 * HOUR),
    ("crowd", 3, 1),
    ("time", 60.0),
]


# The batch is still on its way when the shuffler is set back, which then reports it as deleted.
LATE = [
    ("crowd", 4, 0),
    ("keep", "copy"),
    ("network", "late"),
    *[("time", HOUR)] * 3,
    ("restore", "file"),
]


@pytest.mark.slow
@given(st.lists(EVENTS, max_size=40), st.booleans())
@example(events=[("crowd", 4, 0), ("keep", "backup"), *leaves("file")], admission=True)
@example(events=[("crowd", 4, 0), ("keep", "copy"), *leaves("file")], admission=False)
@example(events=[("crowd", 4, 0), ("keep", "copy"), *leaves("in place")], admission=False)
@example(events=[("crowd", 4, 0), ("keep", "copy"), *leaves("folder")], admission=False)
@example(events=BACK, admission=False)
@example(events=[("keep", "backup"), ("crowd", 4, 0), *leaves("file")], admission=False)
@example(events=CURATOR_BACK, admission=False)
@example(events=BETWEEN, admission=False)
@example(events=LATE, admission=False)
@settings(DRAWN, max_examples=HISTORIES)
def test_whatever_happens(curators: Path, events: list[Event], admission: bool) -> None:
    run(curators, events, admission=admission)


@pytest.mark.slow
@given(st.lists(BLIND, max_size=30))
# A message is late until shortly before the curator no longer takes it.
@example(
    [("time", 2.0), ("send", 0, 0, ""), ("time", HOUR * 1.25), ("network", "late"), *[("time", HOUR)] * 2]
)
@settings(DRAWN, max_examples=HISTORIES // 5)
def test_another_trip_changes_one_report_and_nothing_else(curators: Path, events: list[Event]) -> None:
    """Numbers, sizes and times of what leaves the shuffler, and all other reports, are those of the other history."""
    one, two = run(curators, events), run(curators, events, twin=True)
    assert one.seen == two.seen
    for (window, mine), (same, hers) in zip(one.left, two.left, strict=True):
        assert window == same
        gone = {seal_of(one.plan, one.value(0, window), window)} & mine
        come = {seal_of(two.plan, two.value(0, window), window)} & hers
        assert mine - gone == hers - come
        assert len(gone) == len(come)


def test_everybody_is_counted_once_when_nothing_goes_wrong(curators: Path) -> None:
    events = [
        *(("crowd", DEVICES, window) for window in range(WINDOWS)),
        *(("direct", device, 1, "twice") for device in range(DEVICES)),
    ]
    world = run(curators, events)
    assert len(world.acknowledged) == DEVICES * WINDOWS
    assert len(world.directly) == DEVICES
    assert [len(reports) for _, reports in world.left] == [DEVICES] * WINDOWS
