from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ldptrace as lt
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import DataWarning, InputError, NoiseWarning
from synthesis_kit import run_method

BOUNDS = (0.0, 0.0, 1.0, 1.0)


def walks(count: int = 300) -> Trajectories:
    rng = np.random.default_rng(1)
    return Trajectories(rng.random(4 * count), rng.random(4 * count), np.arange(0, 4 * count + 1, 4))


def test_bounds_that_miss_the_data_are_refused() -> None:
    with pytest.raises(InputError, match="no point lies in the bounds 5,5,6,6: the data span"):
        lt.synthesize(walks(), 1.0, bounds=(5, 5, 6, 6))


def test_many_points_outside_are_said() -> None:
    with pytest.warns(
        DataWarning, match=r"MOST OF IT IS LOST: .* points of 300 trips lie outside the bounds"
    ):
        lt.synthesize(walks(), 1.0, bounds=(0, 0, 0.5, 0.5), grid=4, seed=1)


def test_points_that_are_no_numbers_are_left_out_and_said() -> None:
    broken = walks()
    broken.x[3] = np.nan
    with pytest.warns(DataWarning, match=r"omitted 1 point \(not a number\)"):
        synthetic = lt.synthesize(broken, 1.0, bounds=BOUNDS, grid=4, seed=1)
    assert np.isfinite(synthetic.x).all()


def test_a_column_that_may_name_users_is_said() -> None:
    trips = replace(walks(), extra=pa.table({"taxi": np.arange(300) // 2}))
    with pytest.warns(DataWarning, match=r"column taxi repeats between trips: does it name users"):
        lt.synthesize(trips, 1.0, bounds=BOUNDS, grid=4, seed=1)


@pytest.mark.parametrize(
    ("users", "epsilon", "word"), [(10, 1.0, "with 10 users"), (300, 0.01, "epsilon 0.01")]
)
def test_mostly_noise_is_said_before_and_after(users: int, epsilon: float, word: str) -> None:
    with pytest.warns(NoiseWarning, match=word):
        synthetic = lt.synthesize(walks(users), epsilon, bounds=BOUNDS, seed=1)
    assert synthetic.provenance is not None
    assert any("mostly noise" in said for said in synthetic.provenance["notes"])


def test_checks_come_before_the_work() -> None:
    with pytest.raises(InputError, match="epsilon"):
        lt.synthesize("nowhere.parquet", -1.0, bounds=BOUNDS)
    with pytest.raises(InputError, match="x0 < x1"):
        lt.synthesize("nowhere.parquet", 1.0, bounds=(1, 0, 0, 1))
    for wrong in ({"interval": -1}, {"spacing": 0}, {"spacing": float("nan")}):
        with pytest.raises(InputError, match="must be"):
            lt.synthesize("nowhere.parquet", 1.0, bounds=BOUNDS, **wrong)
    with pytest.raises(InputError, match="no such file"):
        lt.synthesize("nowhere.parquet", 1.0, bounds=BOUNDS)


@pytest.mark.slow
def test_across_the_antimeridian() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(178, 182, 800)
    fiji = Trajectories(
        np.where(x > 180, x - 360, x), rng.uniform(-18, -16, 800), np.arange(0, 801, 4), crs="EPSG:4326"
    )
    with pytest.raises(InputError, match=r"run across the antimeridian.*as in 177,-20,183,-12"):
        lt.synthesize(fiji, 1.0, bounds=(177, -20, -177, -12))
    synthetic = lt.synthesize(fiji, 1.0, bounds=(177, -20, 183, -12), grid=4, seed=1)
    assert 177 <= synthetic.x.min() < synthetic.x.max() <= 183
    card = lt.evaluate(fiji, synthetic, bounds=(177, -20, 183, -12), grid=4, seed=1, attacks=False)
    assert card.document()["metrics"]["length_error"]["value"] < 0.5


def test_a_run_prints_as_a_table() -> None:
    run = run_method(walks(), 1.0, bounds=BOUNDS, grid=4, seed=1)
    lines = repr(run).splitlines()
    assert len(lines) < 12
    assert "  epsilon  1 for each trajectory" in lines
    assert "array" not in repr(run)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "geojson", "gpx", "dat"])
@pytest.mark.parametrize(
    ("given", "leak"),
    [
        ({"bounds": (0.0, 0.0, 4.0, 4.0), "outside": "drop"}, "stay silent"),
        ({"bounds_from_data": True}, "bounds"),
        ({"bounds": (0.0, 0.0, 4.0, 4.0), "outside": "cut"}, None),
    ],
)
def test_the_file_of_every_format_names_what_weakens_its_promise(
    suffix: str, given: dict[str, object], leak: str | None, tmp_path: Path
) -> None:
    trips = Trajectories(
        *np.random.default_rng(1).uniform(0, 4.5, (2, 300)), np.arange(101) * 3, crs="EPSG:4326"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = lt.synthesize(trips, 1.0, grid=2, time="off", count=20, **given)
    lt.write(made, tmp_path / f"out.{suffix}")
    for promise in (made.provenance, lt.read(tmp_path / f"out.{suffix}").provenance):
        assert promise is not None
        found = promise["leaks"]
        assert found is None if leak is None else leak in found


@pytest.mark.filterwarnings("ignore::ldptrace.errors.NoiseWarning", "ignore::ldptrace.errors.FitWarning")
def test_shuffled_reports_state_both_promises() -> None:
    """The same people say more, and every file says for which promise."""
    run = run_method(walks(2000), 1.0, bounds=BOUNDS, grid=3, seed=1, shuffled=True)
    told = run.trajectories.provenance or {}
    found = {name: told[name] for name in ("epsilon", "delta", "batch", "trust")}
    assert found == {"epsilon": "1", "delta": "0.00000001", "batch": 2000, "trust": "shuffler"}
    assert float(told["local_epsilon"]) > 2
    assert told["plan"]["version"] == 2
    assert "through a shuffler" in repr(run)
    model = run.synthesis.model
    assert model is not None
    assert (model.promised or {})["local_epsilon"] == told["local_epsilon"]
    # Where eps0 is at its bound, less is promised than was wanted, and said.
    bounded = run_method(walks(20_000), 5.0, bounds=BOUNDS, grid=3, seed=1, shuffled=True)
    promised = (bounded.trajectories.provenance or {})["epsilon"]
    assert float(promised) < 3
    assert f"epsilon  {float(promised):g} for each" in repr(bounded)
    direct = run_method(walks(2000), 1.0, bounds=BOUNDS, grid=3, seed=1).trajectories.provenance or {}
    assert (direct["delta"], direct["local_epsilon"], direct["batch"], direct["trust"]) == (
        "0",
        "1",
        None,
        "nobody",
    )
