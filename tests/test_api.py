"""The public names are a contract."""

from __future__ import annotations

import subprocess
import sys

import ldptrace


def test_exported_names_are_sorted_and_real() -> None:
    assert ldptrace.__all__ == sorted(ldptrace.__all__)
    for name in ldptrace.__all__:
        assert getattr(ldptrace, name).__name__ == name


def test_names_of_the_design_are_there() -> None:
    promised = {
        "read",
        "synthesize",
        "evaluate",
        "Trajectories",
        "Grid",
        "CellPaths",
        "Plan",
        "Tally",
        "Estimates",
    }
    assert promised | {"MarkovModel", "PathModel", "Scorecard"} <= set(ldptrace.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(ldptrace, "nonsense")


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import ldptrace, sys; print({'numpy', 'numba', 'pyarrow', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
