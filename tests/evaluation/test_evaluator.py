"""Whole evaluations, and what they say about inputs that are hard to compare."""

from __future__ import annotations

import io
import json
import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from rich.console import Console

import ldptrace as lt
from evaluation_data import drifting_walks, good_and_bad, timed, values_of
from ldptrace.core.outside import within
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import DataWarning, InputError
from ldptrace.evaluation import controls
from ldptrace.evaluation.evaluator import evaluate, resilience
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.protocol.grid import Bounds, Grid
from road_kit import lattice_roads

SQUARE = (0.0, 0.0, 10.0, 10.0)
SIX = Grid(SQUARE, 6)


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return good_and_bad()


def printed(card: Scorecard) -> str:
    console = Console(width=120, file=io.StringIO())
    console.print(card.table(corrected=True), card.attack_table())
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_floor_is_near_perfect_and_random_walks_are_not(card: Scorecard) -> None:
    for name in ("density_error", "trip_error", "pattern_error"):
        value = values_of(card)[name]
        assert value["floor"] < value["value"] < value["uniform"]


def test_repeats_give_a_mean_and_a_spread(card: Scorecard) -> None:
    query, density = (values_of(card)[name] for name in ("query_error", "density_error"))
    assert query["std"] > 0
    assert density["std"] == 0.0
    assert density["floor_std"]
    once = evaluate(drifting_walks(60, 1), drifting_walks(60, 2), bounds=SQUARE, seed=1, repeat=1)
    assert values_of(once)["query_error"]["std"] is None


def test_the_seed_repeats_everything_also_where_none_was_given() -> None:
    real, synthetic = drifting_walks(60, 1), drifting_walks(60, 2)
    card = evaluate(real, synthetic, bounds=SQUARE, repeat=2)
    seed = card.document()["evaluation"]["seed"]
    again, other = (evaluate(real, synthetic, bounds=SQUARE, repeat=2, seed=one) for one in (seed, seed + 1))
    assert card.to_json() == again.to_json() != other.to_json()


def test_values_do_not_depend_on_the_other_sets(card: Scorecard) -> None:
    alone = evaluate(drifting_walks(300, 1), drifting_walks(300, 3, pull=0.8), bounds=SQUARE, seed=9)
    for name in set(METRICS) - {"query_error"}:
        assert values_of(alone)[name]["value"] == values_of(card, 1)[name]["value"]


def test_attacks_alone(card: Scorecard) -> None:
    found = resilience(drifting_walks(300, 1), drifting_walks(300, 2), bounds=SQUARE, names=["good"], seed=1)
    assert list(found) == ["good"]
    assert found["good"]["outlier"]["synthetic"] == card.sets[0]["attacks"]["outlier"]["synthetic"]


def line(*points: tuple[float, float]) -> list[tuple[float, float]]:
    return list(points)


def values(card: Scorecard) -> dict[str, float]:
    return {name: card[name] for name in card.measured}


def test_an_empty_synthetic_set_is_refused() -> None:
    with pytest.raises(InputError, match="the synthetic set synthetic has no trajectories"):
        evaluate(drifting_walks(20, 1), Trajectories.from_lists([]), seed=1)
    with pytest.raises(InputError, match="no trajectories"):
        evaluate(drifting_walks(20, 1), Trajectories.from_lists([[], []]), seed=1)
    with pytest.raises(InputError, match="there is no synthetic set"):
        evaluate(drifting_walks(20, 1))


def test_an_empty_real_set_is_refused() -> None:
    with pytest.raises(InputError, match="the real set has no points"):
        evaluate(Trajectories.from_lists([]), drifting_walks(20, 1))
    with pytest.raises(InputError, match="the real set has no trajectories"):
        evaluate(Trajectories.from_lists([]), drifting_walks(20, 1), bounds=SQUARE)


def test_trajectories_without_points_are_counted() -> None:
    real = drifting_walks(30, 1)
    holes = Trajectories.concat([real, Trajectories.from_lists([[], []])])
    card = evaluate(real, holes, seed=1, repeat=1)
    assert "2 of 32 trajectories have no points" in " ".join(card.remarks())
    assert values(card)["density_error"] == 0.0


def test_all_points_in_one_cell() -> None:
    real = Trajectories.from_lists([line((1, 1), (1.1, 1.1))] * 5)
    card = evaluate(real, real, bounds=SQUARE, seed=1, repeat=2)
    found = values(card)
    assert math.isnan(found["pattern_f1"])
    assert math.isnan(found["pattern_error"])
    assert found["density_error"] == 0.0
    assert found["length_error"] == 0.0
    assert "there are no patterns" in " ".join(card.remarks())
    assert json.loads(card.to_json())["metrics"]["pattern_f1"]["value"] is None
    assert "<svg" in card.to_html()
    assert "–" in printed(card)


def test_all_points_in_one_place_need_no_bounds() -> None:
    point = Trajectories.from_lists([line((3, 3), (3, 3))] * 3)
    assert values(evaluate(point, point, seed=1, repeat=1))["trip_error"] == 0.0


def test_constant_lengths() -> None:
    real = Trajectories.from_lists([line((1, 1), (1, 5)), line((2, 2), (6, 2))])
    other = Trajectories.from_lists([line((1, 1), (1, 6)), line((2, 2), (6, 2))])
    card = evaluate(real, real, other, bounds=SQUARE, seed=1, repeat=1)
    assert values_of(card)["length_error"]["value"] == 0.0
    # Equal and longer, half each, against all equal.
    expected = 0.5 * math.log(1 / 0.75) + 0.25 * math.log(0.5 / 0.75) + 0.25 * math.log(2)
    assert values_of(card, 1)["length_error"]["value"] == pytest.approx(expected, abs=1e-6)
    assert "too narrow a range" in " ".join(card.remarks())


def test_lengths_that_share_nothing_with_the_real_ones() -> None:
    real = Trajectories.from_lists([line((1, 1), (1, 1)), line((1, 1), (2, 1))])
    long = Trajectories.from_lists([line((0, 0), (9, 9))])
    found = values(evaluate(real, long, bounds=SQUARE, seed=1, repeat=1))
    assert found["length_error"] == pytest.approx(math.log(2))


def test_sets_that_do_not_overlap() -> None:
    real, far = drifting_walks(30, 1), drifting_walks(30, 2)
    far = replace(far, x=far.x + 100)
    with pytest.raises(
        InputError, match=r"none of the 30 trajectories of the synthetic set .* stays in the bounds"
    ):
        evaluate(real, far)
    with pytest.raises(InputError, match="none of the 30"):
        evaluate(real, far, outside="clamp")
    passing = Trajectories.from_lists([line((5, 5), (50, 5))])
    with pytest.raises(InputError, match="none of the 1 trajectories"):
        evaluate(real, passing, bounds=SQUARE, outside="drop")
    corner = Trajectories.from_lists([line((9.9, 9.9), (9.8, 9.9))])
    other = Trajectories.from_lists([line((0.1, 0.1), (0.2, 0.1))])
    found = values(evaluate(corner, other, bounds=SQUARE, seed=1, repeat=1))
    assert found["density_error"] == pytest.approx(math.log(2), abs=1e-6)


def test_what_leaves_the_bounds_is_cut_dropped_or_clamped_and_counted() -> None:
    real = drifting_walks(50, 1)
    box = (1.0, 1.0, 9.0, 9.0)
    outside = sum(
        bool(np.any((real.x[a:b] < 1) | (real.x[a:b] > 9) | (real.y[a:b] < 1) | (real.y[a:b] > 9)))
        for a, b in zip(real.offsets, real.offsets[1:], strict=False)
    )
    assert 0 < outside < 50
    pieces, crossings = within(real, box)
    cut = evaluate(real, real, bounds=box, seed=1, repeat=1)
    assert (
        cut.document()["real"]["trajectories"]
        == cut.sets[0]["portrait"]["trajectories"]
        == np.count_nonzero(pieces.sizes)
    )
    assert crossings.sentence in " ".join(cut.remarks())
    dropped = evaluate(real, real, bounds=box, seed=1, repeat=1, outside="drop")
    assert (
        dropped.document()["real"]["trajectories"]
        == dropped.sets[0]["portrait"]["trajectories"]
        == 50 - outside
    )
    assert f"{outside} trips leave the bounds and are omitted (of 50 trajectories)" in " ".join(
        dropped.remarks()
    )
    clamped = evaluate(real, real, bounds=box, seed=1, repeat=1, outside="clamp")
    assert clamped.document()["real"]["trajectories"] == 50
    assert f"of {outside} trips moved to the border of the bounds (of 50 trajectories)" in " ".join(
        clamped.remarks()
    )
    with pytest.raises(InputError, match="outside must be cut or drop or clamp"):
        evaluate(real, real, outside="ignore")  # type: ignore[arg-type]


def test_bounds_come_from_the_real_set_when_nobody_gives_them() -> None:
    real = drifting_walks(50, 1)
    card = evaluate(real, real, seed=1, repeat=1)
    assert tuple(card.document()["evaluation"]["bounds"]) == real.bounds()
    assert "the bounds were taken from the real set" in card.remarks()
    assert evaluate(real, real, grid=Grid(SQUARE, 5), seed=1, repeat=1).document()["evaluation"]["grid"] == 5
    with pytest.raises(InputError, match="were given as well"):
        evaluate(real, real, grid=Grid(SQUARE, 5), bounds=(0, 0, 9, 9))


def test_a_real_set_with_a_promise_is_noticed() -> None:
    """The two files of a comparison may have been exchanged."""
    walks = drifting_walks(50, 1)
    synthetic = replace(walks, provenance={"epsilon": "1", "unit": "user"})
    said = "the real set states a promise as synthetic trips do; the real trips come first"
    assert said in evaluate(synthetic, walks, bounds=SQUARE, seed=1, repeat=1).remarks()
    assert said not in evaluate(walks, synthetic, bounds=SQUARE, seed=1, repeat=1).remarks()


def test_different_coordinate_systems_are_refused() -> None:
    real, synthetic = (
        replace(drifting_walks(20, 1), crs="EPSG:4326"),
        replace(drifting_walks(20, 2), crs="EPSG:3857"),
    )
    with pytest.raises(InputError, match=r"different coordinate systems: the real set EPSG:4326.*EPSG:3857"):
        evaluate(real, synthetic)
    # One label for the same thing, or no label at all, is no difference.
    same = replace(synthetic, crs="OGC:CRS84")
    assert (
        evaluate(real, same, bounds=SQUARE, seed=1, repeat=1).document()["evaluation"]["crs"] == "EPSG:4326"
    )
    unnamed = evaluate(real, replace(synthetic, crs=None), bounds=SQUARE, seed=1, repeat=1)
    assert "names no coordinate system" in " ".join(unnamed.remarks())


def test_geographic_distances_are_in_metres() -> None:
    real = drifting_walks(50, 1)
    degrees = replace(real, crs="EPSG:4326")
    plane, ground = (evaluate(item, item, bounds=SQUARE, seed=1, repeat=1) for item in (real, degrees))
    assert ground.document()["real"]["mean_length"] > 100_000 * plane.document()["real"]["mean_length"]
    assert values(ground)["density_error"] == values(plane)["density_error"]


def test_coordinates_that_are_no_numbers_are_left_out_and_said() -> None:
    broken = Trajectories.from_lists([line((1, 1), (math.nan, 2), (1.5, 1.5))])
    with pytest.warns(DataWarning, match=r"omitted 1 point \(not a number\)"):
        evaluate(drifting_walks(20, 1), broken, bounds=SQUARE, attacks=False)


def test_repeat_must_be_positive() -> None:
    with pytest.raises(InputError, match="at least 1"):
        evaluate(drifting_walks(20, 1), drifting_walks(20, 1), repeat=0)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A real set with times in a folder, a synthetic one in a file, and one of points, not sorted."""
    folder = tmp_path_factory.mktemp("sets")
    real, one, two = (timed_walks(count, seed) for count, seed in ((300, 1), (250, 2), (200, 3)))
    (folder / "real").mkdir()
    lt.write(real[:120], folder / "real" / "0.parquet")
    lt.write(real[120:], folder / "real" / "1.parquet")
    lt.write(replace(one, provenance={"epsilon": "1", "method": "made up"}), folder / "one.parquet")
    order = np.random.default_rng(4).permutation(two.points)
    owner = np.repeat(np.arange(200), two.sizes)
    points = pa.table({"trip": owner[order], "x": two.x[order], "y": two.y[order], "t": two.t[order]})  # type: ignore[index]
    write_csv(points, folder / "two.csv")
    return [folder / "real", folder / "one.parquet", folder / "two.csv"]


def timed_walks(count: int, seed: int) -> Trajectories:
    walks = drifting_walks(count, seed)
    step = np.arange(walks.points) - np.repeat(walks.offsets[:-1], walks.sizes)
    leave = np.random.default_rng(seed).random(count) * 86_000
    return replace(walks, t=np.repeat(leave, walks.sizes) + 60.0 * step)


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "streets"), [((0.5, 0.5, 9.5, 9.5), False), (None, True)])
def test_files_are_evaluated_as_memory_is(
    tables: list[Path], bounds: Bounds | None, streets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same scorecard to the last digit from blocks on disk, whatever is read at a time, samples included."""
    monkeypatch.setattr("ldptrace.engines.base.POINTS", 900)
    monkeypatch.setattr("ldptrace.evaluation.evaluator.SAMPLE", 50)
    monkeypatch.setattr(
        "ldptrace.evaluation.evaluator.map_alone", lambda roads, rng: controls.map_alone(roads, rng, 200)
    )
    roads = lattice_roads(6, 2.0) if streets else None
    held = [lt.read(path) for path in tables]
    with ExitStack() as resources:
        opened = []
        for path, memory in zip(tables, (1 << 12, 1 << 30, 1 << 14), strict=True):
            batches = open_batches(path, memory=memory, always=True)
            assert batches is not None
            resources.callback(batches.close)
            opened.append(batches)
        whole, card = (
            evaluate(*sets, bounds=bounds, roads=roads, seed=4, repeat=1, names=["one", "two"], tick=600.0)
            for sets in (held, opened)
        )
        few, all_ = (resilience(*sets, bounds=bounds, seed=1) for sets in (held, opened))
    assert card.to_json() == whole.to_json()
    assert few == all_
    assert any("drawn at random" in said for said in whole.remarks())
    assert card.sets[0]["privacy"] == {"epsilon": "1", "method": "made up"}
    assert values_of(card)["departure_error"]["value"] is not None


@pytest.mark.slow
def test_sets_of_many_blocks_are_judged_like_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    real, synthetic = timed(drifting_walks(300, 1), 1), timed(drifting_walks(200, 2), 2)
    expected = evaluate(real, synthetic, grid=SIX, seed=1, repeat=1, attacks=False)
    monkeypatch.setattr("ldptrace.engines.base.POINTS", 300)
    card = evaluate(real, synthetic, grid=SIX, seed=3, repeat=1, attacks=False)
    for name in ("density_error", "trip_error", "pattern_f1", "fine_density_error_96", "departure_error"):
        assert values_of(card)[name]["value"] == pytest.approx(values_of(expected)[name]["value"], abs=1e-9)
    # Bootstraps differ by chance: of the divergences of 300 trips by about a tenth.
    for name in ("od_error_12", "fine_density_error_24"):
        floors = [values_of(found)[name]["floor"] for found in (card, expected)]
        assert floors[0] == pytest.approx(floors[1], rel=0.5)
    assert len(card.document()["real"]["samples"]) == 300
    assert "<svg" in card.to_html()


@pytest.mark.slow
def test_a_large_set_is_beside_fewer_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    real, synthetic = drifting_walks(2000, 1), drifting_walks(100, 2)
    found = []
    for walks in (2000, 1000):
        monkeypatch.setattr("ldptrace.evaluation.evaluator.WALKS", walks)
        card = evaluate(real, synthetic, grid=SIX, seed=1, repeat=1, attacks=False)
        found.append(values_of(card)["pattern_error"]["uniform"])
    # Counts of half as many walks are doubled: about the same error, not that of half as many.
    assert found[0] == pytest.approx(found[1], rel=0.1)
