from __future__ import annotations

import numpy as np
import pytest

from ldptrace.simulation.streams import Streams


def drawn(source: np.random.Generator) -> list[int]:
    return source.integers(1 << 62, size=4).tolist()


def test_a_release_draws_fresh_bytes_for_its_devices() -> None:
    streams = [Streams.of(sample_seed=5) for _ in range(3)]
    assert len({tuple(drawn(item.devices)) for item in streams}) == 3
    assert len({tuple(drawn(item.sampling)) for item in streams}) == 1
    assert not any(item.seeded for item in streams)


def test_what_may_be_published_repeats_the_sampling_and_nothing_else() -> None:
    release = Streams.of()
    assert release.sample_seed is not None
    assert drawn(np.random.default_rng(release.sample_seed)) == drawn(release.sampling)
    for known in (Streams.of(sample_seed=release.sample_seed), Streams.of(seed=release.sample_seed)):
        assert drawn(known.devices) != drawn(release.devices)


def test_an_experiment_repeats_exactly() -> None:
    first, again, other = Streams.of(7), Streams.of(7), Streams.of(8)
    assert drawn(first.devices) == drawn(again.devices)
    assert drawn(first.sampling) == drawn(again.sampling)
    assert drawn(Streams.of(7).devices) != drawn(other.devices)
    assert first.seeded
    assert first.sample_seed is None


@pytest.mark.parametrize("seed", [0, 7, 2**40])
def test_devices_and_sampling_are_independent_streams(seed: int) -> None:
    both = Streams.of(seed)
    assert drawn(both.devices) != drawn(both.sampling)
    # The seed of sampling does not reach the devices of an experiment either.
    assert drawn(Streams.of(seed, sample_seed=1).devices) == drawn(Streams.of(seed, sample_seed=2).devices)


def test_nobody_can_try_all_seeds_of_the_devices() -> None:
    """A release names no seed, and the one it has is of 256 bits: fewer than 200 have a chance of 2^-56."""
    for _ in range(3):
        seed = Streams.of().devices.bit_generator.seed_seq
        assert isinstance(seed, np.random.SeedSequence)
        assert isinstance(seed.entropy, int)
        assert seed.entropy.bit_length() > 200
