from __future__ import annotations

from collections import Counter

import numpy as np

from ldptrace.core.parallel import chunks
from ldptrace.models.path.sampler import PathSampler
from path_kit import probabilities, random_flow
from statistics_kit import assert_frequencies

COUNT = 200_000


def test_paths_are_drawn_with_their_exact_probabilities(rng: np.random.Generator) -> None:
    model = random_flow(2, 4, rng)
    chances = probabilities(model)
    paths = PathSampler.prepare(model).draw(COUNT, rng.spawn(len(chunks(COUNT))))
    seen = Counter(
        tuple(paths.cells[a:b].tolist()) for a, b in zip(paths.offsets[:-1], paths.offsets[1:], strict=True)
    )
    assert set(seen) <= set(chances)
    assert_frequencies([seen[path] for path in chances], list(chances.values()))


def test_the_seed_decides(rng: np.random.Generator) -> None:
    model = random_flow(5, 9, rng)
    walks = PathSampler.prepare(model)
    first, second = (walks.draw(100_000, np.random.default_rng(3).spawn(4)) for _ in range(2))
    assert np.array_equal(first.cells, second.cells)
    assert np.array_equal(first.offsets, second.offsets)
    assert len(walks.draw(0, [])) == 0


def test_one_cell_only(rng: np.random.Generator) -> None:
    model = random_flow(2, 1, rng)
    paths = PathSampler.prepare(model).draw(1000, [rng])
    assert set(paths.sizes.tolist()) == {1}
