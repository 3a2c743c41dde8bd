"""The public names are a contract."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import ldptrace
import ldptrace.curator
from ldptrace.roads.library import Library
from road_kit import lattice_roads


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
    assert promised | {
        "Ledger",
        "MarkovModel",
        "PathModel",
        "Receiver",
        "Reporter",
        "Scorecard",
        "read_area",
    } <= set(ldptrace.__all__)


def test_dir_shows_the_public_names_only() -> None:
    assert dir(ldptrace) == ldptrace.__all__


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(ldptrace, "nonsense")


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import ldptrace, sys; print({'numpy', 'numba', 'pyarrow', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_help_of_all_commands_loads_nothing_heavy() -> None:
    code = "from ldptrace.cli import application as a; import sys; a(); print({'numpy', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_large_things_show_themselves_in_one_line() -> None:
    roads = lattice_roads(3)
    routes = Library(routes=5).draw(roads, np.random.default_rng(1))
    model = ldptrace.RouteModel.of_map(routes, ldptrace.Grid(roads.bounds(), 2), np.random.default_rng(1))
    assert repr(roads) == f"<RoadNetwork {roads.name}: 9 nodes, {roads.edges} edges, no crs>"
    assert repr(routes) == f"<Routes: 5 on {roads!r}>"
    assert repr(model) == "<RouteModel: 2 x 2 cells>"


def test_the_curator_has_only_its_names() -> None:
    with pytest.raises(AttributeError, match=r"module 'ldptrace.curator' has no attribute 'np'"):
        _ = ldptrace.curator.np
