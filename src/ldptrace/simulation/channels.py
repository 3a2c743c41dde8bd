"""Randomizers at simulation speed: the tally of many answers, drawn with a fast generator.

`devices` draws every report of every user; `counts` draws the tally from its exact distribution where the
randomizer's outputs are independent (OUE). Never used on a device.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.running import Mode
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.simulation.answers import Rows

Counts = NDArray[np.int64]


def tally_of(randomizer: Randomizer, rows: Rows, rng: np.random.Generator, mode: Mode) -> Counts:
    """Count how often each item is named by the reports of these answers."""
    if isinstance(randomizer, OUE) and mode == "counts":
        return _oue_counts(randomizer, rows, rng)
    sources = rng.spawn(len(chunks(len(rows))))
    if isinstance(randomizer, OUE):
        p, q = (float(value) for value in randomizer.probabilities)
        parts = map_chunks(lambda k, a, b: _oue(rows[a:b, 0], randomizer.domain, p, q, sources[k]), len(rows))
    elif isinstance(randomizer, GRR):
        p = float(randomizer.probabilities[0])
        parts = map_chunks(lambda k, a, b: _grr(rows[a:b, 0], randomizer.domain, p, sources[k]), len(rows))
    elif isinstance(randomizer, PrivSet):
        weights = np.array([float(weight) for weight in _shares(randomizer)])
        size, domain = randomizer.size, randomizer.domain
        parts = map_chunks(lambda k, a, b: _privset(rows[a:b], domain, size, weights, sources[k]), len(rows))
    else:
        raise NotImplementedError(f"the simulator does not know {randomizer.kind!r}")
    return np.sum(parts, axis=0) if parts else np.zeros(randomizer.outputs, dtype=np.int64)


def _shares(randomizer: PrivSet) -> list[float]:
    """Return the chance of naming at most j of the user's own items."""
    total = sum(randomizer.hit_weights)
    running, shares = 0, []
    for weight in randomizer.hit_weights:
        running += weight
        shares.append(running / total)
    return shares


def _oue_counts(randomizer: OUE, rows: Rows, rng: np.random.Generator) -> Counts:
    """Draw Binomial(f, p) + Binomial(n - f, q) for each item: bits are independent over items and users."""
    p, q = (float(value) for value in randomizer.probabilities)
    items = rows[:, 0]
    held = np.bincount(items[items >= 0], minlength=randomizer.domain)
    counts: Counts = rng.binomial(held, p) + rng.binomial(len(rows) - held, q)
    return counts


@kernel
def _oue(items, domain, p, q, rng):  # type: ignore[no-untyped-def]
    counts = np.zeros(domain, dtype=np.int64)
    for row in range(len(items)):
        true = items[row]
        for item in range(domain):
            chance = p if item == true else q
            if rng.random() < chance:
                counts[item] += 1
    return counts


@kernel
def _grr(items, domain, p, rng):  # type: ignore[no-untyped-def]
    counts = np.zeros(domain + 1, dtype=np.int64)
    for row in range(len(items)):
        true = items[row] if items[row] >= 0 else domain
        if rng.random() < p:
            counts[true] += 1
        else:
            lie = int(rng.random() * domain)
            counts[lie if lie < true else lie + 1] += 1
    return counts


@kernel
def _privset(rows, domain, size, shares, rng):  # type: ignore[no-untyped-def]
    """Return the number of own items named, then which of them, then which strangers (by rejection)."""
    capacity = rows.shape[1]
    outputs = domain + capacity
    counts = np.zeros(outputs, dtype=np.int64)
    own = np.empty(capacity, dtype=np.int64)
    taken = np.empty(outputs, dtype=np.int64)
    for item in range(outputs):
        taken[item] = -1
    for row in range(len(rows)):
        nulls = 0
        for place in range(capacity):
            item = rows[row, place]
            if item < 0:
                item = domain + nulls
                nulls += 1
            own[place] = item
            taken[item] = row
        drawn = rng.random()
        hits = 0
        while hits < len(shares) - 1 and drawn >= shares[hits]:
            hits += 1
        for place in range(hits):
            other = place + int(rng.random() * (capacity - place))
            own[place], own[other] = own[other], own[place]
            counts[own[place]] += 1
        left = size - hits
        while left > 0:
            item = int(rng.random() * outputs)
            if taken[item] != row:
                taken[item] = row
                counts[item] += 1
                left -= 1
    return counts
