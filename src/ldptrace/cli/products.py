"""`ldptrace matrix`, `flows`, `profile` and `statement`: results for planners, for the public, and about privacy."""

from __future__ import annotations

import json
from datetime import date as Date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import JsonOption, Progress, check_outputs, note, read_as, write_text
from ldptrace.cli.options import with_options
from ldptrace.core.reading import Reading
from ldptrace.core.words import count
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.products.sample import Sample

SourceArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TRIPS|MODEL", help="File of synthetic trips, or of a model as `ldptrace fit` writes it."
    ),
]
PopulationOption = Annotated[
    float | None,
    typer.Option(
        help="Number of people in the region; all counts are scaled to this number. By default counts are "
        "not scaled."
    ),
]
ZoneIdOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the names of the zones; by default, one with a usual name such as zone.",
    ),
]


@with_options(reading=Reading, only=("crs", "timezone"))
def matrix(
    source: SourceArgument,
    reading: Reading,
    zones: str = typer.Option(
        metavar="FILE|h3:R",
        help="Zones: a file of polygons (GeoJSON, GeoPackage, Shapefile), or hexagons of the H3 grid, such as h3:8.",
    ),
    output: Path = typer.Option(..., "-o", "--out", help="File for the matrix: .omx, .parquet or .csv."),
    by: str | None = typer.Option(
        None,
        metavar="hour|period|weekday|day",
        help="Write one matrix for each hour, for each period (night, morning, midday, evening), for each day of the "
        "week, or for each date.",
    ),
    zone_id: ZoneIdOption = None,
    population: PopulationOption = None,
) -> None:
    """Write how many trips lead from zone to zone.

    If the promise of the trips is about persons, each person counts once, with one trip drawn at random; otherwise
    every trip counts once.
    """
    from ldptrace.products.departures import checked_by
    from ldptrace.products.files import checked_target
    from ldptrace.products.matrix import WRITTEN, Matrix
    from ldptrace.products.sample import open_source, sample_of
    from ldptrace.products.zones import read_zones

    checked_target(output, *WRITTEN)
    check_outputs([output], [source, Path(zones)])
    slots = checked_by(by)
    with Progress() as stages:
        with stages("read"):
            division = read_zones(zones, zone_id)
            sample = sample_of(open_source(source, crs=reading.crs, timezone=reading.timezone), population)
        with stages("count"):
            counts = Matrix.count(sample, division, slots)
        with stages("write"):
            written = counts.write(output)
    note(
        f"{counts.total:,.0f} trips between {count(len(counts.zones), 'zone')} in {len(counts.slots)} "
        f"{'matrix' if len(counts.slots) == 1 else 'matrices'}: {', '.join(map(str, written))}"
    )
    note_counting(sample, population, hours=by is not None)
    if counts.outside >= 0.5:
        note(f"{counts.outside:,.0f} trips begin or end outside the zones and are not counted.")


@with_options(reading=Reading, only=("crs", "timezone"))
def flows(
    source: SourceArgument,
    reading: Reading,
    roads: Path = typer.Option(metavar="NETWORK", help="Road network that the trips follow."),
    output: Path = typer.Option(..., "-o", "--out", help="File for the counts: .gpkg, .geojson or .parquet."),
    by: str | None = typer.Option(
        None,
        metavar="hour|period|weekday|day",
        help="Also count the people in each hour, in each period (night, morning, midday, evening), on each day of the "
        "week, or on each date; one column for each.",
    ),
    population: PopulationOption = None,
) -> None:
    """Write how many trips pass each street and take each turn.

    If the promise of the trips is about persons, each person counts once, with one trip drawn at random; otherwise
    every trip counts once.
    """
    from ldptrace.products.departures import checked_by
    from ldptrace.products.files import checked_target
    from ldptrace.products.flows import WRITTEN, Flows
    from ldptrace.products.sample import open_source, sample_of
    from ldptrace.roads import read_roads

    checked_target(output, *WRITTEN)
    check_outputs([output], [source, roads])
    slots = checked_by(by)
    with Progress() as stages:
        with stages("read"):
            network = read_roads(roads)
            sample = sample_of(open_source(source, crs=reading.crs, timezone=reading.timezone), population)
        with stages("match and count"):
            counts = Flows.count(sample, network, slots)
        with stages("write"):
            written = counts.write(output)
    note(
        f"{counts.total.values.sum():,.0f} passes of {len(counts.used):,} streets, {counts.followed:.0%} of the "
        "length of the trips on them: "
        f"{', '.join(map(str, written))}"
    )
    note_counting(sample, population, hours=by is not None)


def note_counting(sample: Sample, population: float | None, *, hours: bool) -> None:
    """Print what the numbers count, whose hours they are, and to whom they are scaled."""
    from ldptrace.products.sample import UNPROMISED

    note(sample.counted_words)
    if hours and sample.zone_words is not None:
        note(sample.zone_words)
    if "epsilon" not in (sample.promise or {}):
        note(UNPROMISED)
    if population is not None:
        note(f"Numbers are scaled to {population:,.0f} people; they are not trips per day.")


@with_options(reading=Reading, only=("crs", "timezone"))
def profile(
    source: SourceArgument,
    reading: Reading,
    page: Path = typer.Option(..., "--html", metavar="PAGE", help="File for the page."),
    json_file: JsonOption = None,
    zones: str | None = typer.Option(
        None,
        metavar="FILE|h3:R",
        help="Zones: a file of polygons (GeoJSON, GeoPackage, Shapefile), or hexagons of the H3 grid, such as h3:8; "
        "by default fields of equal size.",
    ),
    zone_id: ZoneIdOption = None,
    roads: Path | None = typer.Option(
        None,
        metavar="NETWORK",
        help="Road network; the page then also shows how many people pass each street.",
    ),
    estimates: Path | None = typer.Option(
        None,
        help="File of estimates from a plan that asks how many trips a person made (the question `trips`); the page "
        "then also shows the number of trips per person.",
    ),
    title: str = typer.Option("How people move here", help="Title of the page."),
    population: PopulationOption = None,
) -> None:
    """Write a page for the public: how many trips there are, when they begin, where they go, and how long they are.

    The page is computed from randomised reports and public knowledge only, so it may be published.
    """
    from ldptrace.curator import Estimates
    from ldptrace.curator.estimates import trips_per_person
    from ldptrace.products.profile import Profile, profile_page
    from ldptrace.products.sample import open_source, sample_of
    from ldptrace.products.zones import read_zones
    from ldptrace.roads import read_roads

    check_outputs([page, json_file], [source, *(Path(part) for part in (zones, roads, estimates) if part)])
    with Progress() as stages:
        with stages("read"):
            division = None if zones is None else read_zones(zones, zone_id)
            network = None if roads is None else read_roads(roads)
            sample = sample_of(open_source(source, crs=reading.crs, timezone=reading.timezone), population)
            each = None
            if estimates is not None:
                asked = read_as(estimates, Estimates.from_json)
                # So that the page does not say more people without a trip in one sentence than in another.
                each = trips_per_person(asked, without=sample.without_trip)
            if estimates is not None and each is None:
                raise InputError(
                    f"{estimates}: nobody was asked how many trips they made (the question trips)"
                )
        with stages("count"):
            figures = Profile.of(sample, division, network, each)
        with stages("write"):
            if json_file is not None:
                write_text(json.dumps(figures.document(), indent=2), json_file)
            write_text(profile_page(figures, title), page)
    note(f"{figures.total:,.0f} trips: {page}")
    note_counting(sample, population, hours=True)


def statement(
    source: Path = typer.Argument(
        metavar="FILE|MODEL|PLAN", help="File of synthetic trips, of a model, or of a plan."
    ),
    output: Path = typer.Option(..., "-o", "--out", help="Folder for the documents."),
    product: str = typer.Option("Synthetic trips", "--name", help="Name of the data product."),
    curator: str | None = typer.Option(None, help="Name of the publisher of the data."),
    purpose: str | None = typer.Option(None, help="Purpose of the data."),
    region: str | None = typer.Option(None, help="Region that the data describe."),
    sector: str = typer.Option(
        "Government",
        help="Sector of the publisher, as the registry names it: Technology, Healthcare, Education, Government, "
        "Energy or Finance.",
    ),
    published: str | None = typer.Option(
        None, "--date", metavar="DATE", help="Date of publication, such as 2026-03-01; by default today."
    ),
    author: str | None = typer.Option(
        None, help="Author of the entry in the registry of differential-privacy deployments."
    ),
    url: str | None = typer.Option(None, help="Web address that describes the data product."),
    license_: str | None = typer.Option(
        None, "--license", help="Licence of the data, preferably the web address of its text."
    ),
) -> None:
    """Write the documents that accompany a release.

    The documents are a citation, metadata in the Croissant format, a statement about each privacy hazard that NIST SP
    800-226 lists, and an entry for the public registry of differential-privacy deployments.
    """
    from ldptrace.products.sample import open_promise
    from ldptrace.products.statement import Operator, write_statement

    try:
        day = None if published is None else Date.fromisoformat(published)
    except ValueError:
        raise InputError(f"--date is written as 2026-03-01, got {published!r}") from None
    promise = open_promise(source)
    operator = Operator(curator, purpose, region, product, sector, day, author, url, license_)
    data = source if source.suffix not in (".npz", ".json") else None
    for path in write_statement(promise, output, operator, data):
        note(str(path))
    for sentence in promise.weaker:
        note(f"Note: {sentence}")
