"""People on the way who can be asked: everybody reports at most once in any w ticks (population division)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldptrace.errors import InputError
from ldptrace_lab.streams.cells import Ints
from ldptrace_lab.streams.states import Floats, States


@dataclass(frozen=True)
class Settings:
    """Epsilon of any `window` ticks; the public mean of a trip in ticks (None: that of the data, which is raw)."""

    epsilon: float
    window: int = 20
    mean_ticks: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise InputError(f"epsilon must be a positive number, got {self.epsilon!r}")
        if self.window < 1:
            raise InputError(f"the window must be at least one tick, got {self.window}")
        if self.mean_ticks is not None and not self.mean_ticks > 0:
            raise InputError(f"the mean number of ticks must be positive, got {self.mean_ticks!r}")


class Population:
    """Devices that answer by OUE with all of epsilon, unless they have answered in the last `window` ticks."""

    def __init__(self, states: States, people: int, settings: Settings, rng: np.random.Generator) -> None:
        self.states, self.settings, self.rng = states, settings, rng
        self._asked = np.full(people, -settings.window, dtype=np.int64)

    def free(self, owners: Ints, tick: int) -> Ints:
        """Return places of those who may be asked."""
        return np.flatnonzero(tick - self._asked[owners] >= self.settings.window)

    def report(self, items: Ints, owners: Ints, tick: int, count: int) -> tuple[Floats, int]:
        """Return frequencies of the items from a random choice of those who may be asked, and how many they are."""
        free = self.free(owners, tick)
        chosen = self.rng.choice(free, min(count, len(free)), replace=False) if len(free) else free
        self._asked[owners[chosen]] = tick
        return oue_frequencies(items[chosen], self.states, self.settings.epsilon, self.rng), len(chosen)

    def variance(self, people: int) -> float:
        """Return the variance of one frequency near zero, from the answers of this many users."""
        grown = math.exp(self.settings.epsilon)
        return 4.0 * grown / (max(people, 1) * (grown - 1.0) ** 2)


def oue_frequencies(items: Ints, states: States, epsilon: float, rng: np.random.Generator) -> Floats:
    """Return frequencies by OUE of people who each report one item; not below zero, as the published program has
    them.

    The reports are drawn as sums: a named item's bit is kept with 1/2, others' are set with 1/(e^eps + 1).
    """
    people = len(items)
    if people == 0:
        return np.zeros(states.size)
    kept, noise = 0.5, 1.0 / (np.exp(epsilon) + 1.0)
    true = np.bincount(items, minlength=states.size)
    bits = rng.binomial(true, kept) + rng.binomial(people - true, noise)
    found = (bits - people * noise) / (kept - noise) / people
    return np.where(states.possible, np.maximum(found, 0.0), 0.0)
