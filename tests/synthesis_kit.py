"""Runs of a synthesis by a flat list of options, as most tests want them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.methods.release import Release
from ldptrace.settings import Settings
from ldptrace.synthesis import Run, run


def run_method(real: Any, epsilon: float, **given: Any) -> Run:
    """In memory."""
    return run(real, Settings.of(epsilon, **given))


def run_files(source: Path, target: Path, epsilon: float, where: Running | None = None, **given: Any) -> Run:
    """From files to files."""
    return run(source, Settings.of(epsilon, **given), target, running=where or Running(batches=True))


def drawn(release: Release, count: int, seed: int) -> Trajectories:
    """The trips of a release for this sample seed."""
    trips = release.draw(count, np.random.default_rng(seed)).trips()
    return replace(trips, **release.labels(seed))
