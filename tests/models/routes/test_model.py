"""The route model: what it learns, what it draws, what its file holds, what it warns of."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.errors import FitWarning, FormatError, InputError
from ldptrace.models import load_model
from ldptrace.models.base import Along, Sampler
from ldptrace.models.observation import Observation, overall
from ldptrace.models.path.model import PathModel
from ldptrace.models.routes.answers import PathTables
from ldptrace.models.routes.ends import places_of
from ldptrace.models.routes.free import share_off_streets
from ldptrace.models.routes.model import RouteModel, within
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.routes.strides import Strides
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Lean, Library, Zones, zones_of
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import felt_lengths
from ldptrace.simulation import collect
from road_kit import lattice_roads
from sampling_kit import assert_batches_agree
from statistics_kit import assert_frequencies

GRID = Grid((0, 0, 1900, 1900), 4)
SMALL = StreetOptions(Library(routes=20_000))
ONLY = replace(SMALL, off_streets="never")


def with_speeds(k: int = 20) -> RoadNetwork:
    """A lattice whose middle street is fast."""
    roads = lattice_roads(k)
    middle = (roads.y[roads.source] == 1000) & (roads.y[roads.target] == 1000)
    return replace(roads, seconds=roads.length / np.where(middle, 25.0, 8.0))


def odd_demand(roads: RoadNetwork, count: int, rng: np.random.Generator) -> Trajectories:
    """Trips of which most begin in the lower left and end in the upper right."""
    routes = Library(routes=20_000).draw(roads, rng)
    zone = zones_of(roads, GRID)
    start, end = zone[routes.edges[routes.offsets[:-1]]], zone[routes.edges[routes.offsets[1:] - 1]]
    weights = routes.weights * np.exp(2.5 * (start == 0) + 1.5 * (end == 15) - 1.0 * (start == 7))
    picked = rng.choice(len(routes), count, p=weights / weights.sum())
    return routes.points(picked, spacing=50)


def answered(trips: Trajectories, epsilon: float, rng: np.random.Generator, grid: Grid = GRID) -> Estimates:
    plan = Plan.single_report(grid, epsilon, for_map=True)
    return Estimates.from_tally(plan, collect(plan, CellPaths.from_trajectories(trips, grid), rng))


@pytest.fixture(scope="module")
def fitted() -> tuple[RouteModel, Trajectories, Estimates]:
    rng = np.random.default_rng(1)
    trips = odd_demand(with_speeds(), 60_000, rng)
    estimates = answered(trips, 3.0, rng)
    return RouteModel.fit(estimates, with_speeds(), rng, streets=SMALL), trips, estimates


def ends(trips: Trajectories) -> np.ndarray:
    paths = CellPaths.from_trajectories(trips, GRID)
    pairs = paths.starts().astype(np.int64) * GRID.cells + paths.ends()
    return np.bincount(pairs, minlength=GRID.cells**2) / len(paths)


@pytest.mark.slow
def test_odd_demand_is_learned_and_the_map_alone_does_not_know_it(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    model, trips, _ = fitted
    alone = RouteModel.of_map(with_speeds(), GRID, np.random.default_rng(2))
    truth = ends(trips)
    ours, public = (ends(m.sample(60_000, np.random.default_rng(3))) for m in (model, alone))
    assert np.abs(ours - truth).sum() < 0.35
    assert np.abs(public - truth).sum() > 0.6
    assert model.off_streets == 0
    assert model.effective > 2000


@pytest.mark.slow
def test_the_map_alone_stands_beside_what_was_learned(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    model = fitted[0]
    assert [match.question for match in model.map_alone] == [match.question for match in model.matches]
    assert overall(model.map_alone) > 10 > 1 > overall(model.matches)
    assert model.map_note is not None
    assert model.map_note in model.explain().splitlines()
    drawn = model.sample(1, np.random.default_rng(0))
    assert drawn.provenance is not None
    assert drawn.provenance["notes"] == [model.map_note]


@pytest.mark.slow
def test_answers_that_say_nothing_leave_the_map_as_good_as_the_model() -> None:
    rng = np.random.default_rng(4)
    estimates = answered(odd_demand(with_speeds(), 20_000, rng), 0.01, rng)
    model = RouteModel.fit(estimates, with_speeds(), rng, streets=ONLY)
    for learned, public in zip(model.matches, model.map_alone, strict=True):
        assert learned.chi2 == pytest.approx(public.chi2, abs=0.1)
    assert "do not show that the reports add anything to the map" in str(model.map_note)


@pytest.mark.slow
def test_the_map_alone_is_the_first_library_which_no_answer_has_touched(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    estimates, roads = fitted[2], within(with_speeds(), GRID, None)
    few = Library(routes=4000)
    with warnings.catch_warnings():
        # So few routes are told.
        warnings.simplefilter("ignore", FitWarning)
        model = RouteModel.fit(
            estimates, roads, np.random.default_rng(8), streets=StreetOptions(few, "never")
        )
    rng = np.random.default_rng(8)
    # The first part of a small library is a quarter of it.
    routes = Library(routes=1000).pool(roads, rng, Lean.even(Zones.of(roads, GRID, places_of(GRID)))).routes
    strides = Strides.drawn(routes, GRID, rng)
    most = estimates["visits"].question.capacity
    table = PathTables(strides.cells(routes, GRID), lengths=1).answers("visits", most)
    misfit = estimates["visits"].frequencies - table.T @ strides.weighted(routes.weights)
    found = next(match for match in model.map_alone if match.question == "visits")
    assert found.chi2 == pytest.approx(np.mean(misfit**2 / Observation.of(estimates["visits"]).variances))


@pytest.mark.slow
def test_a_small_library_is_no_reason_to_leave_the_streets(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    with warnings.catch_warnings():
        # Few routes, and what they miss, are told.
        warnings.simplefilter("ignore", FitWarning)
        model = RouteModel.fit(
            fitted[2], with_speeds(), np.random.default_rng(1), streets=StreetOptions(Library(routes=3000))
        )
    assert model.off_streets == 0


def test_routes_are_drawn_by_their_weights() -> None:
    """Frequencies of drawn routes against their weights; false alarms as stated in the kit."""
    roads = lattice_roads(3, block=700.0)
    ways = [[edge] for edge in range(roads.edges)]
    weights = np.arange(1, roads.edges + 1, dtype=np.float64)
    routes = Routes.of(roads, ways, weights)
    strides = Strides(np.zeros(len(routes), dtype=np.int8), np.array([30.0, 60, 120, 240, 480]), timed=False)
    model = RouteModel(GRID, routes, strides)
    drawn = model.sample(100_000, np.random.default_rng(7))
    first, second = drawn.offsets[:-1], drawn.offsets[1:] - 1
    middle = (drawn.x[first] + drawn.x[second]) / 2 + 1j * (drawn.y[first] + drawn.y[second]) / 2
    forward = (drawn.x[second] - drawn.x[first]) + (drawn.y[second] - drawn.y[first]) > 0
    true_middle = (roads.x[roads.source] + roads.x[roads.target]) / 2 + 1j * (
        roads.y[roads.source] + roads.y[roads.target]
    ) / 2
    along = roads.x[roads.target] - roads.x[roads.source] + roads.y[roads.target] - roads.y[roads.source] > 0
    counts = [
        int(((np.abs(middle - true_middle[edge]) < 1) & (forward == along[edge])).sum())
        for edge in range(roads.edges)
    ]
    assert sum(counts) == 100_000
    assert_frequencies(np.array(counts), routes.weights)


@pytest.mark.slow
def test_sampling_repeats_with_its_source_and_goes_on_without(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    model = fitted[0]
    rng = np.random.default_rng(5)
    first, second = model.sample(500, rng), model.sample(500, rng)
    again = model.sample(500, np.random.default_rng(5))
    assert np.array_equal(first.x, again.x)
    assert not np.array_equal(first.x[:50], second.x[:50])
    assert len(model.sample(0, rng)) == 0


@pytest.mark.slow
def test_points_are_placed_as_asked(fitted: tuple[RouteModel, Trajectories, Estimates]) -> None:
    model = fitted[0]
    timed = model.sample(300, np.random.default_rng(1), interval=10)
    assert timed.t is not None
    gaps = np.diff(timed.t)
    inner = np.ones(len(gaps), dtype=bool)
    inner[timed.offsets[1:-1] - 1] = False
    assert gaps[inner].max() == pytest.approx(10)
    assert np.all(timed.t[timed.offsets[:-1]] == 0)
    even = model.sample(300, np.random.default_rng(1), spacing=40)
    assert even.t is None
    steps = np.hypot(np.diff(even.x), np.diff(even.y))
    inside = np.ones(len(steps), dtype=bool)
    inside[even.offsets[1:-1] - 1] = False
    assert steps[inside].max() <= 40 + 1e-9
    with pytest.raises(InputError, match="not both"):
        model.sample(1, np.random.default_rng(1), spacing=1, interval=1)
    with pytest.raises(InputError, match="must be from 0 to"):
        model.sample(-1, np.random.default_rng(1))


def test_dense_trips_have_the_paths_of_their_fixes() -> None:
    routes = Library(routes=3000).draw(with_speeds(), np.random.default_rng(0))
    grid = Grid((0, 0, 1900, 1900), 6)
    strides = Strides.drawn(routes, grid, np.random.default_rng(1))
    every = np.arange(len(routes))
    fixes = CellPaths.from_trajectories(strides.points(routes, every), grid)
    dense = strides.trips(routes, every, grid)
    cut = CellPaths.from_trajectories(dense, grid)
    assert np.array_equal(cut.cells, fixes.cells)
    assert np.array_equal(cut.offsets, fixes.offsets)
    assert dense.points > 2 * strides.points(routes, every).points


@pytest.mark.slow
def test_a_file_holds_everything(fitted: tuple[RouteModel, Trajectories, Estimates], tmp_path: Path) -> None:
    model = fitted[0]
    model.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert isinstance(loaded, RouteModel)
    assert loaded.explain().splitlines()[2:] == model.explain().splitlines()[2:]
    assert loaded.plan == model.plan
    ours, theirs = (ends(m.sample(40_000, np.random.default_rng(3))) for m in (model, loaded))
    # Routes that weigh nothing are left out, so draws differ while the law does not.
    assert np.abs(ours - theirs).sum() < 0.05


@pytest.mark.slow
def test_a_broken_file_is_told(fitted: tuple[RouteModel, Trajectories, Estimates], tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    fitted[0].save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    breaks = {
        "edges": np.full_like(arrays["edges"], 10**6),
        "weights": -arrays["weights"],
        "stride": np.full_like(arrays["stride"], 99),
        "begin": arrays["begin"] + 2,
        "roads_target": arrays["roads_target"] + 10**6,
    }
    for name, wrong in breaks.items():
        np.savez(path, **{**arrays, name: wrong})
        with pytest.raises(FormatError, match="not a complete route model"):
            RouteModel.load(path)
    np.savez(path, **{name: column for name, column in arrays.items() if name != "sizes"})
    with pytest.raises(FormatError):
        RouteModel.load(path)


@pytest.mark.slow
def test_what_the_map_alone_gives_is_in_the_file(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    header, arrays = fitted[0].contents()
    assert RouteModel.restored(GRID, None, header, arrays).map_alone == fitted[0].map_alone
    with pytest.raises(ValueError, match="about the same questions"):
        RouteModel.restored(GRID, None, {**header, "map_alone": header["map_alone"][:2]}, arrays)
    before = RouteModel.restored(GRID, None, {**header, "map_alone": []}, arrays)
    assert before.map_note is None
    assert "map alone" not in before.explain()


@pytest.mark.slow
def test_it_explains_itself(fitted: tuple[RouteModel, Trajectories, Estimates]) -> None:
    text = fitted[0].explain()
    assert "synthetic trips effectively use" in text
    assert "visits" in text
    assert "stride" in text


@pytest.mark.slow
def test_the_map_of_another_place_is_told(rng: np.random.Generator) -> None:
    """People walk on a diagonal of a town whose streets are a comb: from one tooth to another only along the rim."""
    lines = [[(x, x + shift) for x in np.linspace(50, 1700, 40)] for shift in rng.uniform(0, 150, 12_000)]
    estimates = answered(Trajectories.from_lists(lines), 4.0, rng)
    town = lattice_roads(20)
    comb = (town.x[town.source] == town.x[town.target]) | (town.y[town.source] + town.y[town.target] == 0)
    with pytest.warns(FitWarning) as told:
        model = RouteModel.fit(estimates, town.take_edges(np.flatnonzero(comb)), rng, streets=SMALL)
    assert any("may be of another place" in str(warning.message) for warning in told)
    assert model.off_streets > 0.5
    # The note about the map alone must not contradict the warning.
    assert model.map_note is not None
    assert "which noise explains" not in model.map_note
    drawn = model.sample(2000, rng)
    assert len(drawn) == 2000
    assert "Trips off the streets" in model.explain()


@pytest.mark.slow
def test_trips_off_the_streets_have_times_and_survive_a_file(
    fitted: tuple[RouteModel, Trajectories, Estimates], tmp_path: Path
) -> None:
    model, _, estimates = fitted
    mixed = replace(model, off_streets=0.4, paths=PathModel.fit(estimates))
    mixed.save(tmp_path / "mixed.npz")
    loaded = RouteModel.load(tmp_path / "mixed.npz")
    assert loaded.off_streets == 0.4
    for options in ({}, {"spacing": 30.0}, {"interval": 5.0}):
        drawn = loaded.sample(1000, np.random.default_rng(0), **options)
        assert len(drawn) == 1000
        assert (drawn.t is not None) == ("interval" in options)
        if drawn.t is not None:
            assert np.all(drawn.t[drawn.offsets[:-1]] == 0)


@pytest.mark.slow
def test_trips_are_the_same_however_many_are_drawn_at_a_time(
    fitted: tuple[RouteModel, Trajectories, Estimates],
) -> None:
    model, _, estimates = fitted
    mixed = replace(model, off_streets=0.4, paths=PathModel.fit(estimates))
    for options in ({}, {"spacing": 200.0}, {"interval": 20.0}):
        assert_batches_agree(mixed, **options)
    assert_batches_agree(model)


def test_streets_are_believed_unless_the_answers_are_clear(rng: np.random.Generator) -> None:
    noise = rng.standard_normal(400)
    # A richer model follows some of the noise: no reason to leave the streets.
    assert share_off_streets(noise, 10, 0.9 * noise, 60) == 0
    assert share_off_streets(noise, 10, noise, 10) == 0
    assert share_off_streets(noise + 2 * rng.standard_normal(400), 10, noise, 60) > 0.5


@pytest.mark.slow
def test_few_routes_are_told(rng: np.random.Generator) -> None:
    trips = odd_demand(with_speeds(), 5000, rng)
    with pytest.warns(FitWarning, match="synthetic trips effectively use only"):
        RouteModel.fit(
            answered(trips, 1.0, rng), with_speeds(), rng, streets=StreetOptions(Library(routes=500), "never")
        )


@pytest.mark.slow
def test_public_trajectories_will_do_instead_of_a_map(rng: np.random.Generator) -> None:
    roads = with_speeds()
    trips = odd_demand(roads, 40_000, rng)
    public = Library(routes=20_000).draw(roads, rng).points(spacing=60)
    model = RouteModel.fit(answered(trips, 3.0, rng), Routes.from_trajectories(public), rng)
    assert np.abs(ends(model.sample(40_000, rng)) - ends(trips)).sum() < 0.35


@pytest.mark.slow
def test_a_question_it_does_not_know_is_refused(
    fitted: tuple[RouteModel, Trajectories, Estimates], rng: np.random.Generator
) -> None:
    estimates = fitted[2]
    strange = Estimates(estimates.plan, {**estimates.by_question, "weather": estimates["start"]})
    with pytest.raises(InputError, match="weather"):
        RouteModel.fit(strange, with_speeds(), rng)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [10_000.0, 1e6])
def test_roads_elsewhere_are_one_sentence(
    fitted: tuple[RouteModel, Trajectories, Estimates], rng: np.random.Generator, shift: float
) -> None:
    roads = with_speeds()
    with pytest.raises(InputError, match="no roads in the bounds"):
        RouteModel.fit(fitted[2], replace(roads, x=roads.x + shift), rng)


@pytest.mark.slow
def test_the_source_decides_the_fit(fitted: tuple[RouteModel, Trajectories, Estimates]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        models = [
            RouteModel.fit(
                fitted[2],
                with_speeds(),
                np.random.default_rng(seed),
                streets=StreetOptions(Library(routes=3000)),
            )
            for seed in (1, 1, 2)
        ]
    assert np.array_equal(models[0].routes.weights, models[1].routes.weights)
    assert not np.array_equal(models[0].routes.weights, models[2].routes.weights)


@pytest.mark.slow
def test_replicates_are_drawn_with_the_trips_and_kept_in_the_file(
    fitted: tuple[RouteModel, Trajectories, Estimates], tmp_path: Path, rng: np.random.Generator
) -> None:
    model = fitted[0]
    trips, ratios = model.replicated(5_000, rng)
    assert ratios is not None
    assert ratios.shape[1] == len(trips) == 5_000
    np.testing.assert_allclose(ratios.mean(axis=1), 1.0, rtol=1e-3)
    assert 0.01 < ratios.std() < 5
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert isinstance(again, RouteModel)
    assert again.draws is not None
    assert again.draws.shape == (24, len(again.routes))
    assert replace(model, redraw=lambda: None).replicated(10, rng)[1] is None


def crossing(seconds: bool = False) -> RouteModel:
    """One route of 200 metres with a junction in its middle, and the lengths as time passes on its four pieces."""
    x, y = [0, 50, 100, 150, 200, 100], [0, 0, 0, 0, 0, 50]
    roads = RoadNetwork.of(x, y, [0, 1, 2, 3, 2], [1, 2, 3, 4, 5])
    roads = replace(roads, seconds=roads.length / 10) if seconds else roads
    model = RouteModel.of_map(
        Routes.of(roads, [[0, 1, 2, 3]]), Grid((0, 0, 200, 200), 2), np.random.default_rng(1)
    )
    return replace(model, felt=felt_lengths(roads))


def test_time_passes_near_junctions_and_ends_where_speeds_are_not_known() -> None:
    drawn = Sampler.of(crossing(), 1, np.random.default_rng(1), Along(spacing=50.0, timed=True)).trips()
    assert drawn.t is not None
    first, second, third, last = np.diff(drawn.t)
    # Both halves are alike: the outer quarters are slow because trips end there, the inner ones because streets meet.
    assert (first, second) == pytest.approx((last, third))
    plain = replace(crossing(), felt=None)
    even = Sampler.of(plain, 1, np.random.default_rng(1), Along(spacing=50.0, timed=True)).trips()
    assert even.t is not None
    assert second / first > np.diff(even.t)[1] / np.diff(even.t)[0]
    assert not plain.knows_speeds


def test_known_speeds_say_how_time_passes() -> None:
    model = crossing(seconds=True)
    drawn = Sampler.of(model, 1, np.random.default_rng(1), Along(spacing=50.0, timed=True)).trips()
    assert model.knows_speeds
    assert drawn.t is not None
    assert np.diff(drawn.t).tolist() == pytest.approx([5.0] * 4)


def test_without_speeds_trips_have_no_times_of_their_own() -> None:
    model = crossing()
    assert model.sample(3, np.random.default_rng(1)).t is None
    with pytest.raises(InputError, match="speeds are not known"):
        model.sample(3, np.random.default_rng(1), interval=10.0)


def test_felt_lengths_are_kept_in_the_file(tmp_path: Path) -> None:
    model = crossing()
    model.save(tmp_path / "model.npz")
    loaded = RouteModel.load(tmp_path / "model.npz")
    assert model.felt is not None
    assert loaded.felt is not None
    # The street that no route uses is not in the file, and the junction is still felt.
    assert loaded.felt.tolist() == model.felt[:4].tolist()
    assert loaded.felt[1] > loaded.routes.roads.length[1]
