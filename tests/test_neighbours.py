"""One person's records change one report and nothing else: not the plan, the layout, the promise, or anybody's answers.

Two sets of people differ in the records of one person. Everything that is published is made twice, with the same random
numbers, and with tallies that are the same whatever the devices would answer. Then all of it must be equal, also what
is asked in later rounds and steps, and whom; only in the table of what devices know of their trips, one row of each
round may differ. An error publishes nothing, so either set may be refused.
"""

from __future__ import annotations

import importlib
import json
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.running import Running
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.io import read, read_with_account
from ldptrace.methods import single_report
from ldptrace.models import fit_model
from ldptrace.simulation.unit import Trips
from ldptrace.streams.run import stream
from ldptrace.streams.settings import Settings as StreamSettings
from ldptrace.synthesis import Settings, run
from people_kit import (
    BOUNDS,
    CHANGES,
    DATE,
    FILES,
    PEOPLE,
    Change,
    Person,
    Point,
    csv_of,
    ends_of,
    fixes_of,
    geojson_of,
    iso,
    jsonl_of,
    lists_of,
    lone_marks_of,
    marks_of,
    mixed_of,
    named_of,
    porto_of,
    somebody,
    with_times,
)

collect: Any = importlib.import_module("ldptrace.simulation.collect")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
Table = Counter[tuple[Any, ...]]


def _rows_of(trips: Trips) -> Iterator[tuple[Any, ...]]:
    paths, timing = trips.paths, trips.timing
    ways = None if timing is None else timing.ways(1.0, 1.0)
    for number in range(len(trips)):
        cells = tuple(paths.cells[paths.offsets[number] : paths.offsets[number + 1]].tolist())
        times: tuple[Any, ...] = ()
        if timing is not None and ways is not None:
            times = tuple(str(column[number]) for column in (timing.departure, timing.arrival, ways))
        counts = None if trips.counts is None else int(trips.counts[number])
        yield cells, times, counts


@dataclass
class Rounds:
    """What devices know of their trips in each round of a plan, or step of a stream, and what each round asks."""

    tables: list[Table] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)
    collections: list[Any] = field(default_factory=list)

    def table_of(self, collection: Any) -> Table:
        if not any(one is collection for one in self.collections):
            self.collections.append(collection)
            self.asked.append((collection.plan.id, collection.round))
            self.tables.append(Counter())
        return self.tables[[one is collection for one in self.collections].index(True)]

    def begin(self) -> None:
        self.tables, self.asked, self.collections = [], [], []


@pytest.fixture
def devices(monkeypatch: pytest.MonkeyPatch) -> Rounds:
    """What the devices know and are asked. Their reports are random, and the same whatever they know."""
    rounds, whole, lock = Rounds(), collect.Collection.of_trips, threading.Lock()

    def looked(self: Any, trips: Trips, number: int) -> Tally:
        with lock:
            rounds.table_of(self).update(_rows_of(trips))
        return whole(self, trips, number)

    tally_of = collect.tally_of

    def deaf(randomizer: Any, rows: Any, rng: Any, mode: Any) -> Any:
        items = np.full_like(rows, -1)
        items[:, 0] = np.arange(len(rows)) % randomizer.domain
        return tally_of(randomizer, items, np.random.default_rng(1), mode)

    models: dict[tuple[str, str], Any] = {}

    def fitted(estimates: Any, *public: Any, rng: Any, **options: Any) -> Any:
        # Equal answers give equal models, and fits take longest.
        assert public == (None, None)
        known = estimates.to_json(), str(rng.bit_generator.state)
        if known not in models:
            models[known] = fit_model(estimates, rng=rng, **options)
        return models[known]

    monkeypatch.setattr(single_report, "fit_model", fitted)
    monkeypatch.setattr(collect.Collection, "of_trips", looked)
    monkeypatch.setattr(collect, "tally_of", deaf)
    return rounds


@dataclass(frozen=True)
class Public:
    """What everybody sees, and what the devices know."""

    said: dict[str, Any]
    tables: list[Table]


def published(trips: Trajectories) -> dict[str, Any]:
    said: dict[str, Any] = {name: getattr(trips, name) for name in ("crs", "timezone", "user", "provenance")}
    said["columns"] = None if trips.extra is None else trips.extra.column_names
    for name in ("x", "y", "t", "offsets"):
        values = getattr(trips, name)
        said[name] = None if values is None else values.tolist()
    return said


Face = Callable[[Any, Rounds], Public]


def synthesized(**options: Any) -> Face:
    running = options.pop("running", None)

    def face(source: Any, rounds: Rounds) -> Public:
        rounds.begin()
        given = {"bounds": BOUNDS, "grid": 2, "seed": 1, "sample_seed": 1} | options
        done = run(source, Settings.of(3.0, **given), running=running)
        said = published(done.trajectories)
        return Public(said | {"users": done.users, "count": done.count, "asked": rounds.asked}, rounds.tables)

    return face


def streamed(**options: Any) -> Face:
    def face(source: Any, rounds: Rounds) -> Public:
        rounds.begin()
        told: list[str] = []
        given = {"start": DATE, "end": DATE + 6000.0, "step": 2000.0, "grid": 2, "seed": 1} | options
        done = stream(
            source, 3.0, bounds=BOUNDS, settings=StreamSettings(tick=200.0, **given), live=told.append
        )
        steps = [replace(step, seconds=0.0) for step in done.steps]
        return Public(
            published(done.trajectories) | {"told": told, "steps": steps, "asked": rounds.asked},
            rounds.tables,
        )

    return face


def made(face: Face, source: Any, rounds: Rounds) -> Public | None:
    """What is published, or nothing if the source is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return face(source, rounds)
    except InputError:
        return None


def agree(one: Public | None, two: Public | None) -> bool:
    """Whether both were published; then they agree."""
    if one is None or two is None:
        return False
    assert two.said == one.said
    for before, after in zip(one.tables, two.tables, strict=True):
        assert sum(before.values()) == sum(after.values())
        assert sum((before - after).values()) <= 1
    return True


def compared(
    face: Face,
    write: Callable[[list[Person], Path], Any],
    folder: Path,
    rounds: Rounds,
    whose: int,
    change: Change,
) -> bool:
    """Whether both were published; then they agree."""
    people = [somebody(number) for number in range(PEOPLE)]
    others = [change(person) if number == whose else person for number, person in enumerate(people)]
    one, two = (made(face, write(each, folder), rounds) for each in (people, others))
    return agree(one, two)


def _tried(face: Face, name: str, folder: Path, rounds: Rounds, every: int = 1) -> None:
    """Try all changes, or of slow faces each `every` of them, each of another person."""
    people = [somebody(number) for number in range(PEOPLE)]
    before = made(face, FILES[name](people, folder), rounds)
    # In each format, another person has the first change; the first and the last person are of most interest.
    told = [(0, "no times"), (PEOPLE - 1, "times of the day"), (0, "no geometry"), (1, "no degrees")]
    whose = (0, PEOPLE - 1, 1 + len(name) % (PEOPLE - 2))
    changes = [(whose[(number + len(name)) % 3], change) for number, change in enumerate(sorted(CHANGES))]
    for number, change in (*changes[len(name) % every :: every], *told):
        others = [*people[:number], CHANGES[change](people[number]), *people[number + 1 :]]
        try:
            agree(before, made(face, FILES[name](others, folder), rounds))
        except AssertionError as error:
            error.add_note(f"person {number}: {change}")
            raise


@pytest.mark.parametrize("name", FILES)
def test_synthesize(name: str, tmp_path: Path, devices: Rounds) -> None:
    _tried(synthesized(timezone="Asia/Tokyo"), name, tmp_path, devices)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("google", "no points"),
        ("google", "no geometry"),
        ("jsonl", "broken numbers"),
        ("csv", "broken numbers"),
        ("geojson", "no geometry"),
        ("wkt", "an area"),
        ("lists", "a last time far away"),
    ],
)
def test_one_record_refuses_no_file(name: str, change: str, tmp_path: Path, devices: Rounds) -> None:
    assert compared(synthesized(), FILES[name], tmp_path, devices, 3, CHANGES[change])


@pytest.mark.parametrize("name", ["csv", "lists", "points", "ends", "wkt", "cells", "fixes", "feather"])
def test_synthesize_in_batches(name: str, tmp_path: Path, devices: Rounds) -> None:
    _tried(synthesized(running=Running(memory="1K", batches=True)), name, tmp_path, devices)


@pytest.mark.parametrize("change", ["properties", "none"])
def test_one_property_does_not_say_whose_all_trips_are(change: str, tmp_path: Path, devices: Rounds) -> None:
    people = [somebody(number) for number in range(PEOPLE)]
    if change == "none":
        assert synthesized()(geojson_of(people, tmp_path), devices).said["provenance"]["unit"] == "trajectory"
        return
    source = geojson_of([CHANGES["properties"](people[0]), *people[1:]], tmp_path)
    with pytest.raises(InputError, match="--user user_id"):
        synthesized()(source, devices)
    named = synthesized(user="user_id")(source, devices)
    assert named.said["provenance"]["unit"] == "user"
    # A set that was read before is refused like the file.
    with pytest.raises(InputError, match="--user user_id"):
        synthesized()(read(source), devices)
    assert synthesized(user="user_id")(read(source), devices).said["provenance"]["unit"] == "user"
    with pytest.raises(InputError, match="--user user_id"):
        streamed()(read(source), devices)
    promise = synthesized(unit="trip")(source, devices).said["provenance"]
    assert (promise["unit"], promise["adjacency"]) == (
        "trajectory",
        "the data of one trajectory replaced by other data",
    )


@pytest.mark.parametrize("name", ["csv", "lists"])
def test_synthesize_for_each_trip(name: str, tmp_path: Path, devices: Rounds) -> None:
    _tried(synthesized(unit="trip", outside="clamp", week=True), name, tmp_path, devices)


@pytest.mark.parametrize("name", ["csv", "lists", "points"])
@pytest.mark.parametrize("batches", [False, True])
def test_a_user_with_any_number_of_trips(name: str, batches: bool, tmp_path: Path, devices: Rounds) -> None:
    """The others have one trip each, so that it does not matter how many random numbers the choice of a trip takes."""
    face = synthesized(running=Running(batches=batches))
    for trips in (((), ()), ((), ((1, 1, DATE), (2, 2, None)), ((3, 3, 60.0),))):
        assert compared(
            face, FILES[name], tmp_path, devices, 3, lambda person, t=trips: replace(person, trips=t)
        )


SEVERAL = tuple(somebody(number).trips[0] for number in range(40, 70))
ODD: list[tuple[Callable[[list[Person], Path], Any], str, Change]] = [
    (named_of, "a text", lambda person: replace(person, properties={"trip": "x"})),
    (named_of, "a fraction", lambda person: replace(person, properties={"trip": "13.5"})),
    (named_of, "many digits", lambda person: replace(person, properties={"trip": "9" * 20})),
    (marks_of, "a line", lambda person: replace(person, geometry="LineString")),
    (marks_of, "nothing", lambda person: replace(person, geometry=None)),
    (marks_of, "lists of times", lambda person: with_times(person, [1, 2])),
    (lone_marks_of, "a line", lambda person: replace(person, geometry="LineString")),
    (mixed_of, "many lines", lambda person: replace(person, trips=SEVERAL)),
]


@pytest.mark.parametrize(
    ("write", "change"),
    [(write, change) for write, _, change in ODD],
    ids=[f"{write.__name__}-{name}" for write, name, _ in ODD],
)
@pytest.mark.parametrize("batches", [False, True])
def test_one_record_does_not_say_how_others_are_read(
    write: Callable[[list[Person], Path], Any], change: Change, batches: bool, tmp_path: Path, devices: Rounds
) -> None:
    """The names of trips, points that are joined or alone, and many rows of one person."""
    compared(synthesized(running=Running(batches=batches)), write, tmp_path, devices, PEOPLE - 1, change)


def silent(write: Callable[[list[Person], Path], Any]) -> Callable[[list[Person], Path], Any]:
    """Nobody says when, but for those who say something else than a number."""

    def written(people: list[Person], folder: Path) -> Any:
        def said(t: Any) -> Any:
            return None if isinstance(t, float) else t

        others = [
            replace(person, trips=tuple(tuple((x, y, said(t)) for x, y, t in trip) for trip in person.trips))
            for person in people
        ]
        return write(others, folder)

    return written


def bare_wkt_of(people: list[Person], folder: Path) -> Path:
    rows = ["user;times;wkt"]
    for person in people:
        line = ",".join(f"{x} {y}" for x, y, _ in person.trips[0])
        times = [] if person.trips[0][0][2] is None else [t for _, _, t in person.trips[0]]
        rows.append(f"{person.name};{times or ''};LINESTRING ({line})")
    path = folder / "bare.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def logged_of(people: list[Person], folder: Path) -> Path:
    """A column without a usual name holds dates."""
    rows = ["user,x,y,logged"]
    rows += [f"{person.name},{x},{y},{iso(t)}" for person in people for x, y, t in person.trips[0]]
    path = folder / "logged.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def null_lists_of(people: list[Person], folder: Path) -> Path:
    """Who says nothing of times has no list of them."""
    lines = []
    for person in people:
        x, y, t = zip(*person.trips[0], strict=True)
        lines.append({"user": person.name, "x": x, "y": y, "t": None if t[0] is None else t})
    path = folder / "null.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


OPEN: dict[str, Callable[[list[Person], Path], Any]] = {
    "csv": csv_of,
    "jsonl": jsonl_of,
    "fixes": fixes_of,
    "marks": marks_of,
    "geojson": geojson_of,
    "wkt": bare_wkt_of,
    "null": null_lists_of,
    "ends": ends_of,
}


@pytest.mark.parametrize("said", [True, "true", "noon", [1, 2], {"a": 1}], ids=str)
@pytest.mark.parametrize("name", OPEN)
def test_one_person_does_not_say_whether_there_are_times(
    name: str, said: Any, tmp_path: Path, devices: Rounds
) -> None:
    """A column says it by its name. A format without types shows only values."""

    def change(person: Person) -> Person:
        return with_times(person, said)

    for batches in (False, True):
        compared(
            synthesized(running=Running(batches=batches)), silent(OPEN[name]), tmp_path, devices, 3, change
        )


@pytest.mark.parametrize("said", [None, "noon", 7.0])
def test_dates_of_a_column_without_a_usual_name_decide_nothing(
    said: Any, tmp_path: Path, devices: Rounds
) -> None:
    for batches in (False, True):
        face = synthesized(running=Running(batches=batches))
        assert compared(face, logged_of, tmp_path, devices, 3, lambda person: with_times(person, said))
    assert "does it say when? (--t logged)" in read_with_account(logged_of([somebody(1)], tmp_path))[1].line()
    named = synthesized(t="logged")
    assert compared(named, logged_of, tmp_path, devices, 3, lambda person: with_times(person, said))


USERS = (7, 7.0, "7", 8, "08", True, 1, None, 7, 8.5, "a", 9, 10, 11)


def users_of_features(people: list[Person], folder: Path) -> Path:
    document = json.loads(geojson_of(people, folder).read_text())
    for feature, person, user in zip(document["features"], people, USERS, strict=True):
        feature["properties"] = {"user": user} | person.properties
    path = folder / "users.geojson"
    path.write_text(json.dumps(document))
    return path


def users_of_lines(people: list[Person], folder: Path) -> Path:
    lines = [
        json.loads(line) | {"user": user} | person.properties
        for line, user, person in zip(
            jsonl_of(people, folder).read_text().splitlines(), USERS, people, strict=True
        )
    ]
    path = folder / "users.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def users_of_porto(people: list[Person], folder: Path) -> Path:
    names = ["7", "07", "8", *map(str, range(20, 20 + PEOPLE - 3))]
    rows = porto_of(people, folder).read_text().splitlines()
    path = folder / "taxis.csv"
    said = [
        f'{row},"{person.properties.get("user", name)}"'
        for row, name, person in zip(rows[1:], names, people, strict=True)
    ]
    path.write_text("\n".join([rows[0] + ',"user"', *said]) + "\n")
    return path


@pytest.mark.parametrize("write", [users_of_features, users_of_lines, users_of_porto])
@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("name", ["x", 12, 11.5, False, ["a"], {}], ids=str)
def test_one_name_does_not_say_how_other_names_are_told_apart(
    write: Callable[[list[Person], Path], Any],
    texts: bool,
    name: Any,
    tmp_path: Path,
    devices: Rounds,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last person has one trip, and any name that no other has."""
    if not texts:
        monkeypatch.setattr(
            "test_neighbours.USERS", tuple(user if type(user) in (int, float) else 100 for user in USERS)
        )
    for batches in (False, True):
        face = synthesized(user="user", running=Running(batches=batches))
        compared(
            face,
            write,
            tmp_path,
            devices,
            PEOPLE - 1,
            lambda person: replace(person, properties={"user": name}),
        )


def test_a_quotation_mark_takes_no_rows_of_others(tmp_path: Path) -> None:
    text = csv_of([somebody(number) for number in range(PEOPLE)], tmp_path).read_text()
    path = tmp_path / "quoted.csv"
    for value in ('"3', '"', '3","'):
        path.write_text(text.replace("u3,3", f"u3,{value}", 1))
        with pytest.raises(InputError, match="line 14: a quotation mark begins a value"):
            read(path)
    path.write_bytes(text.replace("u3,3", 'u3,"3', 1).encode("utf-16"))
    with pytest.raises(InputError, match="line 14: a quotation mark begins a value"):
        read(path)
    path.write_text(text.replace("u3,3", 'u3,3"').replace("u4,4", '"u4","4"'))
    assert len(read(path)) == PEOPLE


def _lines(people: list[Person]) -> list[Any]:
    """One line of each person, in as many parts as the person has trips."""
    shapely = pytest.importorskip("shapely")
    parts = [[[(x, y) for x, y, _ in trip] for trip in person.trips] for person in people]
    return [shapely.LineString(one[0]) if len(one) == 1 else shapely.MultiLineString(one) for one in parts]


def parts_of_geojson(people: list[Person], folder: Path) -> Path:
    shapely = pytest.importorskip("shapely")
    geometries = map(json.loads, shapely.to_geojson(_lines(people)))
    path = folder / "parts.geojson"
    features = [{"type": "Feature", "properties": {}, "geometry": geometry} for geometry in geometries]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def parts_of_gpx(people: list[Person], folder: Path) -> Path:
    def segment(trip: tuple[Point, ...]) -> str:
        points = (f'<trkpt lat="{y}" lon="{x}"><time>{iso(t)}</time></trkpt>' for x, y, t in trip)
        return f"<trkseg>{''.join(points)}</trkseg>"

    tracks = [f"<trk>{''.join(map(segment, person.trips))}</trk>" for person in people]
    path = folder / "parts.gpx"
    path.write_text(f'<gpx xmlns="http://www.topografix.com/GPX/1/1">{"".join(tracks)}</gpx>')
    return path


def parts_of_kml(people: list[Person], folder: Path) -> Path:
    def line(trip: tuple[Point, ...]) -> str:
        return (
            f"<LineString><coordinates>{' '.join(f'{x},{y}' for x, y, _ in trip)}</coordinates></LineString>"
        )

    marks = [
        f"<Placemark><MultiGeometry>{''.join(map(line, person.trips))}</MultiGeometry></Placemark>"
        for person in people
    ]
    path = folder / "parts.kml"
    path.write_text(
        f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{"".join(marks)}</Document></kml>'
    )
    return path


def parts_of_gpkg(people: list[Person], folder: Path) -> Path:
    pyogrio, shapely = pytest.importorskip("pyogrio"), pytest.importorskip("shapely")
    path, shapes = folder / "parts.gpkg", pa.array(shapely.to_wkb(_lines(people)), pa.binary())
    about = {"driver": "GPKG", "geometry_name": "geometry", "geometry_type": "Unknown", "crs": None}
    pyogrio.write_arrow(pa.table({"geometry": shapes}), path, layer="a", **about)
    return path


def parts_of_wkt(people: list[Person], folder: Path) -> Path:
    path = folder / "parts.csv"
    path.write_text("\n".join(["road;wkt", *(f"a;{line.wkt}" for line in _lines(people))]))
    return path


def parts_of_frame(people: list[Person], folder: Path) -> Any:
    lines = _lines(people)
    times = [[t for _, _, t in person.trips[0]] for person in people]
    return pytest.importorskip("geopandas").GeoDataFrame({"t": times}, geometry=lines)


PARTS = (parts_of_geojson, parts_of_gpx, parts_of_kml, parts_of_gpkg, parts_of_wkt, parts_of_frame)


@pytest.mark.parametrize("write", PARTS)
@pytest.mark.parametrize("batches", [False, True])
def test_a_line_of_several_parts_is_one_trip(
    write: Callable[[list[Person], Path], Any], batches: bool, tmp_path: Path, devices: Rounds
) -> None:
    """Of its parts one is drawn; nobody else's trips lose their times."""

    def in_parts(person: Person) -> Person:
        return replace(person, trips=(person.trips[0][:2], person.trips[0][2:]))

    face = synthesized(running=Running(batches=batches))
    assert compared(face, write, tmp_path, devices, 3, in_parts)


@pytest.mark.parametrize("name", ["csv", "lists", "gpx", "geojson"])
@pytest.mark.parametrize("every", [None, "30min"])
def test_stream(name: str, every: str | None, tmp_path: Path, devices: Rounds) -> None:
    _tried(streamed(every=every), name, tmp_path, devices, 1 if name == "lists" and every else 12)


@pytest.mark.parametrize("method", ["paper", "randsyn", "combtran", "noadapt"])
def test_later_rounds(method: str, tmp_path: Path, devices: Rounds) -> None:
    """The second round counts trips up to the length that the first round found."""
    _tried(synthesized(method=method), "memory", tmp_path, devices, 3)
    assert [number for _, number in devices.asked] == [0, 1]


def test_the_grid_that_a_pilot_chooses(tmp_path: Path, devices: Rounds) -> None:
    _tried(synthesized(grid="auto", pilot=0.5), "lists", tmp_path, devices, 3)
    assert len({plan for plan, _ in devices.asked}) == 2


@pytest.mark.parametrize(("step", "steps"), [(200.0, 15), (1000.0, 6)])
def test_every_step_of_a_stream(step: float, steps: int, tmp_path: Path, devices: Rounds) -> None:
    """In short steps few devices answer, or none."""
    face = streamed(step=step, end=DATE + steps * step, every="40min")
    _tried(face, "lists", tmp_path, devices, 15)
    assert len(devices.tables) > 5


def test_the_first_trip_begins_no_stream(tmp_path: Path, devices: Rounds) -> None:
    assert compared(streamed(), FILES["lists"], tmp_path, devices, 0, CHANGES["no times"])


def test_the_last_time_ends_no_stream(tmp_path: Path, devices: Rounds) -> None:
    assert compared(streamed(), FILES["lists"], tmp_path, devices, 3, CHANGES["a last time far away"])


def test_a_stream_whose_period_is_not_given_says_so(tmp_path: Path, devices: Rounds) -> None:
    people = [somebody(number) for number in range(PEOPLE)]
    found = streamed(start=None)(lists_of(people, tmp_path), devices)
    assert "--start" in found.said["provenance"]["leaks"]


def cluster_says(folder: str, name: str = "csv") -> None:
    """Compare what is decided before the reports. Devices are in other processes, where nobody looks at them.

    `tests/engines/test_spark.py` calls it on its cluster.
    """
    people, said = [somebody(number) for number in range(PEOPLE)], []
    for change in ("none", "texts", "no times", "broken numbers"):
        others = [*people[:-1], CHANGES[change](people[-1])] if change != "none" else people
        given = {"bounds": BOUNDS, "grid": 2, "seed": 1, "sample_seed": 1, "timezone": "Asia/Tokyo"}
        done = run(
            FILES[name](others, Path(folder)), Settings.of(3.0, **given), running=Running(engine="spark")
        )
        about = done.privacy()
        kept = {key: about[key] for key in ("leaks", "unit", "users", "notes", "plan", "timezone")}
        said.append(kept | {"timed": done.trajectories.t is not None, "crs": done.trajectories.crs})
    assert len(said) == 4
    assert all(other == said[0] for other in said)
