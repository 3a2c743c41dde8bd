"""`ldptrace inspect`, `convert` and `roads`: describe and convert files of trips and of road networks."""

from __future__ import annotations

import json
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import (
    ForceOption,
    InputArgument,
    JsonOption,
    Progress,
    ToOption,
    check_outputs,
    note,
    read_input,
    write_text,
)
from ldptrace.cli.options import with_options, with_reading
from ldptrace.core.atomic import atomic_path
from ldptrace.core.reading import Reading
from ldptrace.core.words import count
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.io.account import Account
    from ldptrace.io.summary import Spread, Summary

BAR_WIDTH = 40


@with_reading()
def inspect(source: InputArgument, reading: Reading, json_file: JsonOption = None) -> None:
    """Describe a file of trips: number of trips and points, extent, time between points, and unusable rows."""
    from ldptrace.io import read_with_account
    from ldptrace.io.summary import summarise

    check_outputs([json_file], [source])
    with Progress() as stages:
        with stages("read"):
            trajectories, account = read_with_account(source, reading)
        with stages("look"):
            summary = summarise(trajectories)
    if json_file is not None:
        write_text(json.dumps({"file": account.to_dict(), **summary.to_dict()}, indent=2), json_file)
    if str(json_file) != "-":
        typer.echo(describe(account, summary))


@with_options(reading=Reading)
def convert(
    *,
    source: InputArgument,
    output: Path = typer.Argument(
        help="File for the output; by default its extension decides the format; - writes to standard output."
    ),
    reading: Reading,
    to: ToOption = None,
    to_crs: str | None = typer.Option(
        None, help='Coordinate system of the output, such as "EPSG:3857"; by default unchanged.'
    ),
    roads: Path | None = typer.Option(
        None,
        metavar="NETWORK",
        help="Road network of the simulator SUMO (.net.xml); needed for --to sumo-routes, optional for --to "
        "sumo-trips.",
    ),
    force: ForceOption = False,
) -> None:
    """Convert a file of trips to another format, or for a traffic simulator (--to sumo-trips, sumo-routes, matsim)."""
    from ldptrace.core.times import zone_words
    from ldptrace.io import write
    from ldptrace.io.files import project
    from ldptrace.io.formats import for_writing
    from ldptrace.products.simulators import SIMULATORS, write_for

    if to not in SIMULATORS:
        for_writing(output, to)
    check_outputs([output], [source], force=force)
    with Progress() as stages:
        with stages("read"):
            trajectories = read_input(source, reading)
        if to_crs is not None:
            with stages("project"):
                trajectories = project(trajectories, to_crs)
        with stages("write"):
            if to in SIMULATORS:
                said = write_for(trajectories, output, to, roads)
            else:
                write(trajectories, output, format=to)
                said = count(len(trajectories), "trajectory")
    if str(output) != "-":
        note(f"wrote {said} to {output}")
    zone, promise = trajectories.timezone, trajectories.provenance
    if to in SIMULATORS:
        note(zone_words(zone, dates=trajectories.has_dates, promise=promise))
    elif (
        zone is not None
        and promise is None
        and str(output) != "-"
        and for_writing(output, to).name != "parquet"
    ):
        note(f"Only Parquet holds the time zone: read {output} with --timezone {zone}.")


@with_options(reading=Reading, only=("bounds",))
def roads(
    *,
    network: Path = typer.Argument(
        help="Road network: OpenStreetMap extract, GraphML of OSMnx, network of SUMO (.net.xml), GeoPackage, GeoJSON "
        "or Shapefile of lines, or a folder with nodes.csv and edges.csv."
    ),
    reading: Reading,
    output: Path | None = typer.Option(
        None,
        "-o",
        "--out",
        help="Output: a file of lines (.geojson, .gpkg), a picture (.svg, .png, .pdf), a folder for nodes.csv and "
        "edges.csv, or NAME.nod.xml for SUMO's netconvert, with NAME.edg.xml beside it.",
    ),
    mode: str = typer.Option(
        "car", help="Mode of travel: car, bicycle or foot; streets that are closed to it are omitted."
    ),
    to_crs: str | None = typer.Option(
        None, help='Coordinate system of the output, such as "EPSG:3857"; by default unchanged.'
    ),
    json_file: JsonOption = None,
) -> None:
    """Describe, draw or convert a road network.

    The command keeps only the largest connected part of the network, and prints how much of the network it omits.
    """
    from ldptrace.roads import explain_roads, read_roads, write_roads
    from ldptrace.roads.summary import facts
    from ldptrace.roads.writer import FORMATS, LINES, NODES, draw

    check_outputs([json_file], [network])
    if output is not None:
        suffix, folder = output.suffix.lower(), output.is_dir()
        known = suffix in (*FORMATS, *LINES) or output.name.endswith(NODES)
        if suffix and not known and not suffix[1:].isdigit() and not folder:
            raise InputError(
                f"a road network is written as lines ({', '.join(LINES)}), as a folder with nodes.csv and edges.csv, "
                f"or for SUMO (NAME{NODES}), or drawn as {', '.join(FORMATS)}; got {output}"
            )
        check_outputs([] if folder else [output], [network])
    box = reading.bounds
    with Progress() as stages:
        with stages("read"):
            streets = read_roads(network, mode, connected=box is None)
            if box is not None:
                streets = streets.clipped(box).largest_component()
            if to_crs is not None:
                streets = streets.to_crs(to_crs)
        if output is not None:
            with stages("write"):
                if output.suffix.lower() in FORMATS:
                    with atomic_path(output) as temporary:
                        draw(streets, temporary)
                else:
                    write_roads(streets, output)
    if json_file is not None:
        write_text(json.dumps(facts(streets), indent=2), json_file)
    if str(json_file) != "-":
        typer.echo(explain_roads(streets))
    if output is not None:
        note(f"{streets.nodes:,} nodes, {streets.edges:,} directed edges: {output}")


def describe(account: Account, summary: Summary) -> str:
    """Return the account and the summary of a file as text."""
    from ldptrace.core.times import UNNAMED

    unit = summary.distance_unit
    hint = "; say --crs EPSG:4326 if x and y are degrees" if summary.fits_degrees else ""
    rows = [
        ("file", account.line()),
        ("format", account.format),
        ("coordinates", summary.crs or f"planar, or not known{hint}"),
        (
            "bounds",
            "none" if summary.bounds is None else ",".join(f"{value:.10g}" for value in summary.bounds),
        ),
        *([("users", f"{summary.users:,} (column {summary.user})")] if summary.user else []),
        ("points each", _spread(summary.points_per_trajectory)),
        ("distance", _spread(summary.distance, unit)),
        ("longest step", f"{_number(summary.longest_step)} {unit}"),
        (
            "interval",
            _spread(summary.interval_seconds, "s")
            if summary.interval_seconds
            else "no times; if a column holds them, name it with --t",
        ),
    ]
    if summary.duration_seconds:
        rows.append(("duration", _spread(summary.duration_seconds, "s")))
    if summary.first_time:
        rows.append(("from, to", f"{summary.first_time}, {summary.last_time}"))
    if summary.first_time or summary.timezone:
        rows.append(("time zone", summary.timezone or f"UTC, assumed because {UNNAMED}"))
    rows += [("impossible", said) for said in summary.impossible]
    if summary.jumps:
        rows.append(("jumps", f"{count(summary.jumps, 'step')} longer than a quarter of the area, not cut"))
    lines = [f"{name:<13}{value}" for name, value in rows]
    return "\n".join([*lines, "", "points per trajectory", *_bars(summary)])


def _spread(spread: Spread | None, unit: str = "") -> str:
    if spread is None:
        return "none"
    low, q25, median, mean, q75, high = map(_number, astuple(spread))
    return f"median {median}, mean {mean}, middle half {q25} to {q75}, all {low} to {high} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _bars(summary: Summary) -> list[str]:
    edges, counts = summary.histogram_edges, summary.histogram_counts
    most = max(counts, default=0)
    labels = [str(low) if high - low == 1 else f"{low}-{high - 1}" for low, high in pairwise(edges)]
    width = max(map(len, labels), default=0)
    return [
        f"  {label:>{width}} {'█' * round(BAR_WIDTH * number / most):<{BAR_WIDTH}} {number:,}"
        for label, number in zip(labels, counts, strict=True)
    ]
