from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace_lab.compare.runs import Question


@pytest.fixture
def trips(rng: np.random.Generator) -> Trajectories:
    """Short trips in a square, a tick apart."""
    steps = np.cumsum(rng.normal(0, 0.4, (60, 5, 2)), axis=1) + 2
    steps = steps.clip(0.05, 3.95)
    t = (1000.0 + 10 * rng.integers(0, 6, 60))[:, None] + 10 * np.arange(5.0)
    return Trajectories(steps[..., 0].ravel(), steps[..., 1].ravel(), np.arange(0, 301, 5), t=t.ravel())


@pytest.fixture
def question(trips: Trajectories, tmp_path: Path) -> Question:
    return Question.of(trips, "square", tmp_path, (0.0, 0.0, 4.0, 4.0), grid=4)
