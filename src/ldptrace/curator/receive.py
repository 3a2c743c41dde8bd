"""Count batches of reports with compiled code. A bad report does not affect the other reports of its batch. The
compiled code does the same as `ldptrace.protocol.reports.read_report`; tests compare the two.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints
from ldptrace.core.kernels import kernel
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.randomizers import GRR, PrivSet, Randomizer
from ldptrace.protocol.reports import (
    GROUP_AT,
    HEADER_BYTES,
    ID_AT,
    ID_BYTES,
    ROUND_AT,
    WINDOW_AT,
    asked_of,
    plan_prefix,
    report_bytes,
)

Bytes = NDArray[np.uint8]
Codes = NDArray[np.uint8]

# How a slot's bytes are read: any bits, exactly `size` bits, `size` ascending items, one item.
_BITS, _BITS_OF_SIZE, _ITEMS, _ITEM = range(4)
# What is known of a slot (a row of `_layout`): first byte, bytes, how to read them, outputs, size, bytes per item, and
# the first of its counters.
_AT, _LENGTH, _HOW, _OUTPUTS, _SIZE, _WIDTH, _FIRST = range(7)

_UNKNOWN_VERSION = Problem.UNKNOWN_VERSION.number
_WRONG_PLAN = Problem.WRONG_PLAN.number
_WRONG_ROUND = Problem.WRONG_ROUND.number
_UNKNOWN_GROUP = Problem.UNKNOWN_GROUP.number
_BAD_PADDING = Problem.BAD_PADDING.number
_BAD_PAYLOAD = Problem.BAD_PAYLOAD.number
_DUPLICATE = Problem.DUPLICATE.number
_WRONG_WINDOW = Problem.WRONG_WINDOW.number
# First bytes of the fields of a report's header, which begins with the version and the plan.
_ROUND, _GROUP = ROUND_AT.start, GROUP_AT.start
_WINDOW, _WINDOW_BYTES, _ID = WINDOW_AT.start, WINDOW_AT.stop - WINDOW_AT.start, ID_AT.start
# In place of a window: reports of any.
_ANY = -1


# A byte's eight bits in the eight bytes of a word: adding words counts eight items at once, 255 reports long.
_LANES = np.array(
    [sum((byte >> bit & 1) << (8 * bit) for bit in range(8)) for byte in range(256)], dtype=np.uint64
)


class Receiver:
    """A receiver counts each report of a round once, and of each counted report stores only the id.

    - `ids`: the ids of reports that were counted before, and are not counted again.
    - `window`: if the plan is answered once in every time window, the number of the window to count; None means all.

    >>> from ldptrace.device import Reporter
    >>> from ldptrace.protocol.grid import Grid
    >>> plan = Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0)
    >>> report, receiver = Reporter(plan, "none").report([(1, 1)]), Receiver(plan)
    >>> receiver.receive(report + report + report[:-1]).tolist()  # counted, duplicate, wrong-size
    [0, 8, 2]
    >>> sum(receiver.tally.users)
    1
    """

    def __init__(
        self, plan: Plan, round_number: int = 0, ids: bytes = b"", window: int | None = None
    ) -> None:
        if not plan.is_private:
            raise PlanRefused(Problem.PLAN_NOT_PRIVATE)
        self.plan = plan
        self.round = round_number
        self.window = window
        self._zero = Tally.zero(plan, round_number, window)
        self._counts = np.concatenate(self._zero.counts)
        self._members = np.zeros(len(self._zero.counts), dtype=np.int64)
        self._layout = _layout(plan, round_number)
        self._seen = _IdTable()
        self._seen.add_all(ids)

    def receive(self, batch: bytes | memoryview | Bytes) -> Codes:
        """Count a batch of reports.

        The result has one number per report: 0 if the report was counted, otherwise an error number from the list
        in section 11 of the protocol.
        """
        data = np.frombuffer(batch, dtype=np.uint8)
        size = report_bytes(self.plan.rounds[self.round])
        rows, rest = divmod(len(data), size)
        codes = np.zeros(rows + (rest > 0), dtype=np.uint8)
        if rest:
            known = data[rows * size] == self.plan.version
            codes[-1] = (Problem.WRONG_SIZE if known else Problem.UNKNOWN_VERSION).number
        self._seen.make_room(rows)
        self._seen.used += _receive(
            data,
            size,
            np.frombuffer(bytes([self.plan.version]) + plan_prefix(self.plan), dtype=np.uint8),
            self.round,
            0 if self.plan.standing is None else _ANY if self.window is None else self.window,
            *self._layout,
            self._counts,
            self._members,
            self._seen.table,
            self._seen.zero,
            self._seen.key,
            codes,
        )
        return codes

    @property
    def tally(self) -> Tally:
        """Tally of all reports that were counted so far."""
        round_ = self.plan.rounds[self.round]
        users = (
            self._members
            if round_.assignment == "partition"
            else np.full_like(self._members, self._members[0])
        )
        ends = np.cumsum([len(counts) for counts in self._zero.counts])[:-1]
        return Tally(
            self.plan.id,
            self.round,
            tuple(part.copy() for part in np.split(self._counts, ends)),
            tuple(int(n) * ask.question.slots for n, ask in zip(users, round_.asks, strict=True)),
            tuple(int(n) for n in users),
            self.window,
        )

    @property
    def ids(self) -> bytes:
        """Ids of all counted reports, with which a new receiver can continue the count."""
        return self._seen.known().tobytes()


Layout = tuple[Ints, Ints, Ints]


def _layout(plan: Plan, number: int) -> Layout:
    """Return the layout of a report, for the compiled code: one row per slot, with the columns `_AT` to `_FIRST`; for
    each group, where its rows begin and end; and for each group, the byte after its payload.
    """
    round_ = plan.rounds[number]
    base = ragged.offsets_of([ask.randomizer.outputs for ask in round_.asks])
    rows: list[tuple[int, ...]] = []
    groups, ends = [0], []
    for group in range(1 if round_.assignment == "everyone" else len(round_.asks)):
        position = HEADER_BYTES
        for ask in asked_of(round_, group):
            first = int(base[round_.asks.index(ask)])
            for _ in range(ask.question.slots):
                rows.append((position, *_reading(ask.randomizer), first))
                position += ask.randomizer.payload_bytes
        groups.append(len(rows))
        ends.append(position)
    return np.array(rows, dtype=np.int64), np.array(groups, dtype=np.int64), np.array(ends, dtype=np.int64)


def _reading(channel: Randomizer) -> tuple[int, int, int, int, int]:
    """Return the number of bytes, how to read them, outputs, size and bytes per item."""
    size = channel.payload_bytes
    if isinstance(channel, PrivSet):
        if channel.lists_items:
            return size, _ITEMS, channel.outputs, channel.size, size // channel.size
        return size, _BITS_OF_SIZE, channel.outputs, channel.size, 0
    if isinstance(channel, GRR):
        return size, _ITEM, channel.outputs, 1, size
    return size, _BITS, channel.outputs, 0, 0


class _IdTable:
    """Ids of counted reports in an open hash table. The hash has a secret key, so that nobody can choose ids that
    collide. An empty place holds zeros; `zero` records whether the id of all zeros was counted.
    """

    def __init__(self) -> None:
        self.used = 0
        self.key = np.frombuffer(os.urandom(16), dtype=np.uint64) | np.uint64(1)
        self.zero = np.zeros(1, dtype=np.uint8)
        self.table = np.zeros((1 << 10, 2), dtype=np.uint64)

    def make_room(self, more: int) -> None:
        """Enlarge the table so that at most half of it is filled after `more` ids are added."""
        places = len(self.table)
        while 2 * (self.used + more) > places:
            places *= 2
        if places > len(self.table):
            known = self.known()
            self.table, self.zero[0] = np.zeros((places, 2), dtype=np.uint64), 0
            _insert_all(known, self.table, self.zero, self.key)

    def add_all(self, ids: bytes) -> None:
        if len(ids) % ID_BYTES:
            raise InputError(f"ids have {ID_BYTES} bytes each, got {len(ids)} bytes")
        known = np.frombuffer(ids, dtype=np.uint64).reshape(-1, 2)
        self.make_room(len(known))
        self.used += _insert_all(known, self.table, self.zero, self.key)

    def known(self) -> NDArray[np.uint64]:
        rows = self.table[self.table.any(axis=1)]
        return np.concatenate([rows, np.zeros((int(self.zero[0]), 2), dtype=np.uint64)])


@kernel
def _insert(first, second, table, zero, key):  # type: ignore[no-untyped-def]
    """Add an id to the table, and return whether it is new."""
    if first == 0 and second == 0:
        new = zero[0] == 0
        zero[0] = 1
        return new
    mixed = (first ^ (second * key[0])) * key[1]
    mixed = (mixed ^ (mixed >> np.uint64(29))) * key[0]
    last = np.int64(len(table) - 1)
    place = np.int64(mixed >> np.uint64(20)) & last
    while table[place, 0] != 0 or table[place, 1] != 0:
        if table[place, 0] == first and table[place, 1] == second:
            return False
        place = (place + np.int64(1)) & last
    table[place, 0], table[place, 1] = first, second
    return True


@kernel
def _insert_all(ids, table, zero, key):  # type: ignore[no-untyped-def]
    new = 0
    for row in range(len(ids)):
        new += _insert(ids[row, 0], ids[row, 1], table, zero, key)
    return new


@kernel
def _word(data, start):  # type: ignore[no-untyped-def]
    """Return eight bytes as a little-endian integer."""
    word = np.uint64(0)
    for at in range(8):
        word |= np.uint64(data[start + at]) << np.uint64(8 * at)
    return word


@kernel
def _item(data, start, width):  # type: ignore[no-untyped-def]
    item = np.int64(data[start])
    for at in range(start + 1, start + width):
        item = item << np.int64(8) | np.int64(data[at])
    return item


@kernel
def _slot_is_valid(data, start, length, how, outputs, size, width):  # type: ignore[no-untyped-def]
    if how == _ITEM:
        return _item(data, start, width) < outputs
    if how == _ITEMS:
        before = np.int64(-1)
        for place in range(size):
            item = _item(data, start + place * width, width)
            if item <= before:
                return False
            before = item
        return before < outputs
    if data[start + length - 1] >> (8 + outputs - 8 * length):
        return False
    if how == _BITS:
        return True
    ones = 0
    for at in range(start, start + length):
        bits = data[at]
        while bits:
            bits &= bits - np.uint8(1)
            ones += 1
    return ones == size


@kernel
def _count_slot(data, start, length, how, size, width, counts, first, lanes):  # type: ignore[no-untyped-def]
    if how == _ITEM:
        counts[first + _item(data, start, width)] += 1
    elif how == _ITEMS:
        for place in range(size):
            counts[first + _item(data, start + place * width, width)] += 1
    else:
        for at in range(length):
            lanes[at] += _LANES[data[start + at]]


@kernel
def _empty_lanes(slots, counts, lanes):  # type: ignore[no-untyped-def]
    """Add the counts in the lanes to the counters, and set the lanes to zero."""
    for row in range(len(slots)):
        if slots[row, _HOW] == _BITS or slots[row, _HOW] == _BITS_OF_SIZE:
            for item in range(slots[row, _OUTPUTS]):
                lane = np.uint64(8 * (item & 7))
                counted = lanes[row, item >> 3] >> lane & np.uint64(255)
                counts[slots[row, _FIRST] + item] += np.int64(counted)
    lanes[:] = 0


@kernel
def _problem(data, start, size, head, round_number, window, slots, groups, ends):  # type: ignore[no-untyped-def]
    """Return the number of the first problem of a report, in the order of the protocol, or 0 if it has none."""
    if data[start] != head[0]:
        return _UNKNOWN_VERSION
    for at in range(1, len(head)):
        if data[start + at] != head[at]:
            return _WRONG_PLAN
    if data[start + _ROUND] != round_number:
        return _WRONG_ROUND
    if window != _ANY and _item(data, start + _WINDOW, _WINDOW_BYTES) != window:
        return _WRONG_WINDOW
    group = data[start + _GROUP]
    if group >= len(ends):
        return _UNKNOWN_GROUP
    for at in range(start + ends[group], start + size):
        if data[at]:
            return _BAD_PADDING
    for row in range(groups[group], groups[group + 1]):
        at, length = slots[row, _AT], slots[row, _LENGTH]
        how, outputs = slots[row, _HOW], slots[row, _OUTPUTS]
        if not _slot_is_valid(data, start + at, length, how, outputs, slots[row, _SIZE], slots[row, _WIDTH]):
            return _BAD_PAYLOAD
    return 0


@kernel
def _receive(  # type: ignore[no-untyped-def]
    data, size, head, round_number, window, slots, groups, ends, counts, members, table, zero, key, codes
):
    """Check and count every complete report, and return how many were counted."""
    counted = 0
    lanes = np.zeros((len(slots), max(1, slots[:, _LENGTH].max())), dtype=np.uint64)
    for row in range(len(data) // size):
        start = row * size
        problem = _problem(data, start, size, head, round_number, window, slots, groups, ends)
        first, second = _word(data, start + _ID), _word(data, start + _ID + 8)
        if problem == 0 and not _insert(first, second, table, zero, key):
            problem = _DUPLICATE
        codes[row] = problem
        if problem == 0:
            counted += 1
            group = data[start + _GROUP]
            members[group] += 1
            for part in range(groups[group], groups[group + 1]):
                at, length = slots[part, _AT], slots[part, _LENGTH]
                how, counter = slots[part, _HOW], slots[part, _FIRST]
                wide, width = slots[part, _SIZE], slots[part, _WIDTH]
                _count_slot(data, start + at, length, how, wide, width, counts, counter, lanes[part])
            if counted % 255 == 0:
                _empty_lanes(slots, counts, lanes)
    _empty_lanes(slots, counts, lanes)
    return counted
