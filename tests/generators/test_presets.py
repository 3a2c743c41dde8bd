"""Generated sets resemble the paper's in the mean number of points."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace import generators
from ldptrace.errors import InputError
from ldptrace.generators.presets import PRESETS


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PRESETS))
def test_mean_points_are_those_of_the_paper(name: str) -> None:
    trips = generators.like(name, 5000, seed=1)
    # The spread of sizes is about half of the mean, so five thousand trips tell the mean to 0.7 %.
    assert trips.sizes.mean() == pytest.approx(PRESETS[name].mean_points, rel=0.06)
    assert trips.t is not None
    assert np.median(np.diff(trips.t)) == pytest.approx(PRESETS[name].settings["interval"])


def test_an_unknown_preset_lists_the_known() -> None:
    with pytest.raises(InputError, match=r"'paris'.*campus, oldenburg, porto"):
        generators.like("paris")
