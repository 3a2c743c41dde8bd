"""Runs of a synthesis by a flat list of options, as most tests want them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldptrace.core.running import Running
from ldptrace.settings import Settings
from ldptrace.synthesis import Run, run


def run_method(real: Any, epsilon: float, **given: Any) -> Run:
    """In memory."""
    return run(real, Settings.of(epsilon, **given))


def run_files(source: Path, target: Path, epsilon: float, where: Running | None = None, **given: Any) -> Run:
    """From files to files."""
    return run(source, Settings.of(epsilon, **given), target, running=where or Running(batches=True))
