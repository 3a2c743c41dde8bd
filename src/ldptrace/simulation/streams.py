"""Where the randomness of a simulated collection comes from: one stream for the devices, another for the rest.

What is published (synthetic points, a scorecard, metadata) must not hold or determine what the simulated devices
drew: who knows it can test guesses about a user exactly. So the devices have a stream of their own, taken from
the operating system unless a seed is given, and its seed is written nowhere. Sampling a model and placing points
work on what is private already; their seed may be known.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np

# Said on the terminal, in the file and on the scorecard of every run whose devices were seeded.
EXPERIMENT = (
    "the simulated devices were seeded, so that this run can be repeated: it is a reproducible experiment, "
    "not a release"
)


@dataclass(frozen=True, eq=False)
class Streams:
    """The two sources of one run. `sample_seed` is what may be published, `seeded` whether the devices were."""

    devices: np.random.Generator
    sampling: np.random.Generator
    sample_seed: int | None
    seeded: bool

    @staticmethod
    def of(seed: int | None = None, sample_seed: int | None = None) -> Streams:
        """Make the streams of a release, or with a `seed` those of an experiment that repeats exactly.

        >>> Streams.of().seeded, Streams.of(7).seeded
        (False, True)
        >>> Streams.of(7).devices.random() == Streams.of(7).devices.random() != Streams.of(8).devices.random()
        True
        >>> Streams.of(sample_seed=7).sampling.random() == np.random.default_rng(7).random()
        True
        """
        if seed is None:
            if sample_seed is None:
                sample_seed = secrets.randbits(63)
            hidden = np.random.SeedSequence(secrets.randbits(256))
            return Streams(_stream(hidden), np.random.default_rng(sample_seed), sample_seed, seeded=False)
        hidden, open_ = np.random.SeedSequence(seed).spawn(2)
        sampling = np.random.default_rng(open_ if sample_seed is None else sample_seed)
        return Streams(_stream(hidden), sampling, sample_seed, seeded=True)


def _stream(seed: np.random.SeedSequence) -> np.random.Generator:
    """Make a source of Philox, a keyed function of a counter: unlike numpy's default, its state is not known to
    follow from output."""
    return np.random.Generator(np.random.Philox(seed))
