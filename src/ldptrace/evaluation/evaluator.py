"""Compare synthetic sets with a real set: metrics with their floors, attacks, and pictures."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.outside import within
from ldptrace.core.paths import CellPaths
from ldptrace.core.reading import CUT, Outside
from ldptrace.core.running import Stages
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd
from ldptrace.errors import DataWarning, InputError, PrivacyWarning
from ldptrace.evaluation.attacks import run_attacks, uniform_walks
from ldptrace.evaluation.controls import (
    CONTROLS,
    MAP_ALONE,
    PLAIN_ROUTING,
    ROUTED,
    map_alone,
    plain_routing,
)
from ldptrace.evaluation.figures import (
    SAMPLES,
    histogram_edges,
    pattern_table,
    portrait,
    street_lines,
)
from ldptrace.evaluation.line_metrics import LinePair
from ldptrace.evaluation.measured import (
    Measured,
    clock_of,
    real_remarks,
    sampled,
    set_remarks,
    timed_walks,
)
from ldptrace.evaluation.metrics import Reference
from ldptrace.evaluation.queries import SquareQueries, average_relative_error
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.evaluation.sets import SAMPLE, Side, measured, one_for_each, open_sides, set_names
from ldptrace.evaluation.settings import GRID, Judging, Settings
from ldptrace.evaluation.stream_metrics import Course, StreamReference
from ldptrace.evaluation.values import entries
from ldptrace.io.files import trajectories_of
from ldptrace.methods import method
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.words import CENTRAL
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.readers import read_roads
from ldptrace.synthesis import synthesize

# Trajectories of a set that are read one by one for drawing alone, about.
DRAWN = 2_000
# Random walks of a set that knows nothing; a larger one would score the same.
WALKS = 100_000
FRACTIONS = (1 / 36, 1 / 25, 1 / 16, 1 / 9, 1 / 6, 1 / 4)


def evaluate(
    real: Any,
    *synthetic: Any,
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    roads: RoadNetwork | str | os.PathLike[str] | None = None,
    timezone: str | None = None,
    seed: int | None = None,
    repeat: int = Settings.repeat,
    names: Sequence[str] | None = None,
    privacy: Sequence[Mapping[str, Any] | None] | None = None,
    attacks: bool = True,
    samples: bool = True,
    outside: Outside = CUT,
    tick: float | None = None,
    from_tick: int = 0,
    peers: str | None = None,
    stages: Stages | None = None,
) -> Scorecard:
    """Compare one or more synthetic sets of trips with a real set.

    The result is a scorecard. Do not publish a scorecard, because it is computed from real trips without noise.

    - `real`, `synthetic`: anything that `ldptrace.read` accepts.
    - `names`: the names of the synthetic sets. Sets with the same name are treated as repeated runs of one method, and
      the scorecard shows their means.
    - `grid`: the number of cells per side (by default 6), or a grid.
    - `bounds`: the rectangle in which trips are compared; by default the smallest rectangle around the real points.
    - `outside`: what happens to trips that leave the bounds, as for `ldptrace.synthesize`; by default "cut".
    - `roads`: a road network or its file, for metrics on streets and a comparison with trips from the map alone.
    - `timezone`: the local time zone of all sets; by default the time zone that each set states.
    - `seed`: makes the random parts of the comparison repeatable.
    - `repeat`: how often the random parts of the comparison are drawn (by default 3 times).
    - `tick`: the length of a time step in seconds; if given, the positions of travellers at each step are compared too.
    - `from_tick`: the first time step to compare; the data begin with step 0.
    - `stages`: an object that shows the progress of the comparison; by default nothing is shown.
    - `peers`: methods with a trusted curator, such as "adatrace,privtrace", to run on the real set at the epsilon of
      the first synthetic set (for shuffled reports, the central one), and to compare as well.
    - `attacks`: whether to run the attacks of the LDPTrace paper: re-identification of users, and search for outliers.
    - `samples`: whether the HTML page of the scorecard (`to_html`) shows some real trips.
    - `privacy`: the privacy promise of each synthetic set (epsilon and what it protects); by default the promise that
      is stored with the set.

    >>> rng = np.random.default_rng(7)
    >>> city = Trajectories(rng.random(400), rng.random(400), np.arange(0, 401, 4))
    >>> evaluate(city, city, bounds=(0, 0, 1, 1), seed=1)["pattern_f1"]
    1.0
    """
    Settings(
        grid=grid,
        seed=seed,
        tick=tick,
        from_tick=from_tick,
        repeat=repeat,
        attacks=attacks,
        samples=samples,
        peers=peers,
    )
    labels = set_names(names, len(synthetic))
    stated = None if privacy is None else one_for_each("privacy", privacy, len(synthetic))
    stages = stages or Stages()
    seed = secrets.randbits(32) if seed is None else seed
    if peers is not None:
        with stages("run peers"):
            synthetic = tuple(
                item if isinstance(item, Crowd) else trajectories_of(item) for item in synthetic
            )
            promises = stated or [item.provenance for item in synthetic]
            box = grid.bounds if isinstance(grid, Grid) else bounds
            beside = central_peers(peers, real, promises, box, seed)
        synthetic, labels = (*synthetic, *beside.values()), [*labels, *beside]
        stated = None if stated is None else [*stated, *(item.provenance for item in beside.values())]
    rng = np.random.default_rng(seed)
    with stages("prepare"):
        network = roads if roads is None or isinstance(roads, RoadNetwork) else read_network(roads)
        stated_crs = None if network is None else network.crs
        sides, origin = open_sides(real, synthetic, labels, grid, bounds, outside, timezone, stated_crs)
        area, streets = sides[0].area, None
        if network is not None:
            network.check_against(area.bounds, sides[0].crs)
            network = network.clipped(area.bounds)
            streets = StreetIndex.of(network)
    with stages("summarise"):
        few = SAMPLE if attacks else DRAWN if streets is None else ROUTED
        kept = [side.census.kept for side in sides[1:]]
        first, again = sides[0].measured(rng, streets, few, kept)
        others = [side.measured(rng, streets, few)[0] for side in sides[1:]]
        cells, perfect = Reference.of(first.summary, area, rng), LinePair.draw(first, rng)
    stream: dict[str, Any] | None = None
    courses: list[tuple[dict[str, Any], Course | None]] = [({}, None) for _ in others]
    if tick is not None:
        with stages("streams"):
            stream, courses = _streams(sides, network, (tick, from_tick), seed)
    with stages("measure"):
        sizes = first.summary.tables.sizes
        if len(first.summary) > WALKS:
            sizes = rng.multinomial(WALKS, sizes / sizes.sum())
        walks = uniform_walks(np.repeat(np.arange(len(sizes)), sizes), area, rng, crs=sides[0].crs)
        blind = measured(timed_walks(walks, first.traces, rng), area, streets, rng)
        controls = _controls(network, streets, others, area, rng)
        blind = blind.resized(len(first.summary))
        values = entries(cells, perfect, again, others, blind, controls, repeat, rng)
        curves, floor_curve = _query_curves(cells, others, rng)
    with stages("attack"):
        hits = [dict[str, Any]()] * len(others)
        if attacks:
            hits = run_attacks(area, first.trajectories, [item.trajectories for item in others], walks)
    notes = [
        [*side.notes, *sampled(side.name, item, attacks=attacks, streets=streets is not None)]
        for side, item in zip(sides, [first, *others], strict=True)
    ]
    with stages("draw"):
        shown = _picked(first.trajectories, rng) if samples else None
        results = [
            {
                "name": label,
                "seeds": 1,
                "values": values[k] | courses[k][0],
                "attacks": hits[k],
                "privacy": sides[1 + k].crowd.provenance if stated is None else stated[k],
                "notes": [*notes[1 + k], *set_remarks(first, others[k])],
                "query_curve": curves[k],
                "course": courses[k][1],
                "portrait": portrait(label, others[k], first, _picked(others[k].trajectories, rng)),
            }
            for k, label in enumerate(labels)
        ]
        figures = _control_figures(labels, controls, first, rng)
    # Of sets with the same name the first is drawn.
    drawn = {label: item.summary for label, item in zip(reversed(labels), reversed(others), strict=True)}
    evaluation = {
        "grid": area.n,
        "bounds": list(area.bounds),
        "bounds_from": origin,
        "crs": sides[0].crs,
        "roads": None if network is None else network.name,
        "street_tolerance": None if streets is None else streets.tolerance,
        "clock": clock_of(first.trajectories),
        "seed": seed,
        "repeat": repeat,
        "notes": [*notes[0], *real_remarks(first)],
    }
    pictures = {
        "real": portrait("real", first, first, shown),
        "queries": {"fractions": list(FRACTIONS), "floor": floor_curve},
        "edges": histogram_edges(first),
        "controls": figures,
        "streets": None if network is None else street_lines(network, area),
        "patterns": pattern_table(first.summary, [drawn[label] for label in dict.fromkeys(labels)]),
        "stream": stream,
    }
    return Scorecard(results, evaluation, pictures)


def central_peers(
    names: str,
    real: Any,
    promises: Sequence[Mapping[str, Any] | None],
    bounds: Bounds | None,
    seed: int | None,
) -> dict[str, Trajectories]:
    """Run methods with a trusted curator on the real set, and return their synthetic trips by name. `promises` are
    those of the synthetic sets: the methods get the first epsilon that is stated.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    recipes = [method(name) for name in wanted]
    local = [recipe.name for recipe in recipes if CENTRAL not in (recipe.leaks or "")]
    if local or not recipes:
        raise InputError(
            f"peers are methods with a trusted curator, such as adatrace,privtrace, got {', '.join(local) or names!r}"
        )
    stated = next((str(each["epsilon"]) for each in promises if each and each.get("epsilon")), None)
    if stated is None:
        raise InputError("peers need a synthetic set that states its epsilon")
    if isinstance(real, Crowd):
        raise InputError("peers need the real trips in memory: give more --memory, or omit --peers")
    trips = trajectories_of(real)
    made = {}
    for name in wanted:
        with warnings.catch_warnings():
            # What the scorecard says of them: they saw every trip, and the bounds may be those of the real set.
            for kind in (PrivacyWarning, DataWarning):
                warnings.simplefilter("ignore", kind)
            made[name] = synthesize(
                trips,
                float(stated),
                bounds=bounds,
                bounds_from_data=bounds is None,
                method=name,
                seed=seed,
                unit="trip",
                outside="clamp",
            )
    return made


def resilience(
    real: Any,
    *synthetic: Any,
    grid: int | Grid = GRID,
    bounds: Bounds | None = None,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    outside: Outside = CUT,
    stages: Stages | None = None,
) -> dict[str, dict[str, Any]]:
    """Run only the two attacks, and return the results by the name of the set and of the attack. Of larger sets, about
    `SAMPLE` trajectories are drawn at random.
    """
    Judging(grid=grid, seed=seed)
    stages = stages or Stages()
    rng = np.random.default_rng(seed)
    labels = set_names(names, len(synthetic))
    if len(set(labels)) < len(labels):
        raise InputError(
            f"sets are attacked one by one, so each has a name of its own, got {', '.join(labels)}"
        )
    with stages("prepare"):
        sides, _ = open_sides(real, synthetic, labels, grid, bounds, outside)
        (first, *published), area = [side.sample(rng) for side in sides], sides[0].area
        sizes = CellPaths.from_trajectories(first, area).sizes
        walks = uniform_walks(sizes, area, rng, crs=sides[0].crs)
    with stages("attack"):
        return dict(zip(labels, run_attacks(area, first, published, walks), strict=True))


def read_network(path: str | os.PathLike[str]) -> RoadNetwork:
    """Read the whole network of a file, including parts that are not connected."""
    return read_roads(Path(path), connected=False)


def _streams(
    sides: Sequence[Side], network: RoadNetwork | None, ticks: tuple[float, int], seed: int
) -> tuple[dict[str, Any], list[tuple[dict[str, Any], Course | None]]]:
    """Compare the sets as streams, with a tick in seconds and the first tick to compare. Return the real stream, and of
    each synthetic set its entries and its course."""
    # A source of its own: the other values are the same with streams and without.
    rng = np.random.default_rng([seed, 1])
    real, area = sides[0], sides[0].area
    reference = StreamReference.of(real.crowd, real.kept, area, *ticks, rng)
    if network is not None:
        reference = reference.with_map(_kept(map_alone(network.largest_component(), rng), area), rng)
    tables = [reference.tables(side.crowd, side.kept, side.name) for side in sides[1:]]
    return reference.document(), [(reference.entries(each), reference.course(each)) for each in tables]


def _controls(
    network: RoadNetwork | None,
    streets: StreetIndex | None,
    sets: Sequence[Measured],
    area: Grid,
    rng: np.random.Generator,
) -> list[dict[str, Measured]]:
    """Make the two controls of each set, as large as the set, if there is a road network."""
    if network is None:
        return [{} for _ in sets]
    # Metrics use all streets; routes use only the part in which every place can be reached.
    roads = network.largest_component()
    alone = measured(_kept(map_alone(roads, rng), area), area, streets, rng)
    controls = []
    for item in sets:
        plain = _kept(plain_routing(roads, item.trajectories, rng), area)
        both = {MAP_ALONE: alone, PLAIN_ROUTING: measured(plain, area, streets, rng)}
        controls.append({name: control.resized(len(item.summary)) for name, control in both.items()})
    return controls


def _kept(trajectories: Trajectories, area: Grid) -> Trajectories:
    """Return the trips of a control within the bounds and without times."""
    return replace(within(trajectories, area.bounds, "clamp")[0], t=None)


def _control_figures(
    labels: Sequence[str],
    controls: Sequence[Mapping[str, Measured]],
    real: Measured,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return the figures of the map alone, and of plain routing for the first set of each name."""
    figures = []
    for number, (label, both) in enumerate(zip(labels, controls, strict=True)):
        for name, control in both.items():
            if (name == MAP_ALONE and number > 0) or label in labels[:number]:
                continue
            title = CONTROLS[name] if name == MAP_ALONE or len(labels) == 1 else f"{CONTROLS[name]}, {label}"
            figures.append(portrait(title, control, real, _picked(control.trajectories, rng)))
    return figures


def _query_curves(
    cells: Reference, sets: Sequence[Measured], rng: np.random.Generator
) -> tuple[list[list[float]], list[float]]:
    """Return the query error for each size of squares, for every set and for a bootstrap of the real set."""
    real = cells.real
    others = [*(item.summary for item in sets), real.again(len(sets[0].summary), rng)]
    errors = []
    for fraction in FRACTIONS:
        queries = SquareQueries.draw(rng, real.grid, fraction=fraction, scale=real.scale)
        truth, *counts = (queries.scattered(item.visits, item.grid, rng) for item in (real, *others))
        errors.append([average_relative_error(truth, answers, cells.points) for answers in counts])
    *curves, floor = (list(curve) for curve in zip(*errors, strict=True))
    return curves, floor


def _picked(trajectories: Trajectories, rng: np.random.Generator) -> Ints:
    return rng.choice(len(trajectories), min(SAMPLES, len(trajectories)), replace=False)
