"""The local engine: blocks give what the whole gives."""

from __future__ import annotations

import numpy as np

from ldptrace.core.parallel import CHUNK
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.planning import choose_plan
from ldptrace.engines.local import Memory
from ldptrace.simulation import Collection, collect

BOUNDS = (0.0, 0.0, 1.0, 1.0)


def walks(count: int, seed: int = 1) -> Trajectories:
    """Trajectories of one to five points."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 6, count))))
    return Trajectories(rng.random(offsets[-1]), rng.random(offsets[-1]), offsets)


def test_a_tally_is_the_same_from_blocks_and_from_all_paths_at_once() -> None:
    crowd = Memory(walks(CHUNK + 1000))
    plan, _ = choose_plan(crowd.users, 1.0, BOUNDS, n=4)
    collection = Collection(plan, np.random.default_rng(3).spawn(1)[0])
    from_blocks = crowd.add_up(collection, collection.nothing)
    assert from_blocks == crowd.collect(collection)
    assert from_blocks == collect(plan, crowd.paths(plan.grid), np.random.default_rng(3))
    assert sum(from_blocks.users) == crowd.users
