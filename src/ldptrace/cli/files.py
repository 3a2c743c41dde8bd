"""`ldptrace inspect` and `ldptrace convert`: look at trajectory files, and go between formats."""

from __future__ import annotations

import json
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.common import (
    BoundsOption,
    CrsOption,
    ForceOption,
    FormatOption,
    IdOption,
    InputArgument,
    JsonOption,
    Outside,
    OutsideOption,
    Progress,
    SplitOption,
    ToOption,
    TOption,
    UserOption,
    XOption,
    YOption,
    ZoneOption,
    check_outputs,
    note,
    parse_bounds,
    read_input,
    write_text,
)

if TYPE_CHECKING:
    from ldptrace.io.report import ReadReport
    from ldptrace.io.summary import Spread, Summary

BAR_WIDTH = 40


def register(app: typer.Typer) -> None:
    app.command()(inspect)
    app.command()(convert)


def inspect(
    source: InputArgument,
    json_file: JsonOption = None,
    bounds: BoundsOption = None,
    format: FormatOption = None,
    crs: CrsOption = None,
    outside: OutsideOption = Outside.drop,
    x: XOption = None,
    y: YOption = None,
    t: TOption = None,
    id: IdOption = None,
    user: UserOption = None,
    timezone: ZoneOption = None,
    split_gap: SplitOption = None,
) -> None:
    """Say what is in a trajectory file: counts, extent, sampling, lengths, and what cannot be used."""
    from ldptrace.core.columns import Names
    from ldptrace.io import read_with_report
    from ldptrace.io.summary import summarise

    check_outputs([json_file], [source])
    with Progress() as stages:
        with stages("read"):
            trajectories, report = read_with_report(
                source,
                format=format,
                crs=crs,
                bounds=parse_bounds(bounds),
                outside=outside,
                names=Names(x, y, t, id, user),
                timezone=timezone,
                split_gap=split_gap,
            )
        with stages("look"):
            summary = summarise(trajectories)
    if json_file is not None:
        write_text(json.dumps({"file": report.to_dict(), **summary.to_dict()}, indent=2), json_file)
    if str(json_file) != "-":
        typer.echo(describe(report, summary))


def convert(
    source: InputArgument,
    output: Annotated[
        Path, typer.Argument(help="File to write; its extension says the format; - is standard output.")
    ],
    to: ToOption = None,
    to_crs: Annotated[
        str | None, typer.Option("--to-crs", help='Coordinate system of the output, for example "EPSG:3857".')
    ] = None,
    min_points: Annotated[
        int, typer.Option("--min-points", min=0, help="Leave out trajectories with fewer points.")
    ] = 1,
    split_gap: SplitOption = None,
    bounds: BoundsOption = None,
    format: FormatOption = None,
    crs: CrsOption = None,
    outside: OutsideOption = Outside.drop,
    x: XOption = None,
    y: YOption = None,
    t: TOption = None,
    id: IdOption = None,
    user: UserOption = None,
    timezone: ZoneOption = None,
    force: ForceOption = False,
) -> None:
    """Write a trajectory file in another format."""
    from ldptrace.core.columns import Names
    from ldptrace.io import write
    from ldptrace.io.formats import for_writing
    from ldptrace.io.projection import project
    from ldptrace.io.report import count

    for_writing(output, to)
    check_outputs([output], [source], force=force)
    with Progress() as stages:
        with stages("read"):
            trajectories = read_input(
                source,
                format=format,
                crs=crs,
                bounds=parse_bounds(bounds),
                outside=outside,
                min_points=min_points,
                names=Names(x, y, t, id, user),
                timezone=timezone,
                split_gap=split_gap,
            )
        if to_crs is not None:
            with stages("project"):
                trajectories = project(trajectories, to_crs)
        with stages("write"):
            write(trajectories, output, format=to)
    if str(output) != "-":
        note(f"wrote {count(len(trajectories), 'trajectory')} to {output}")


def describe(report: ReadReport, summary: Summary) -> str:
    """The report and the summary as text."""
    from ldptrace.io.report import count

    unit = summary.distance_unit
    hint = "; say --crs EPSG:4326 if x and y are degrees" if summary.fits_degrees else ""
    rows = [
        ("file", report.line()),
        ("format", report.format),
        ("coordinates", summary.crs or f"planar, or not known{hint}"),
        (
            "bounds",
            "none" if summary.bounds is None else ",".join(f"{value:.10g}" for value in summary.bounds),
        ),
        *([("users", f"{summary.users:,} (column {summary.user})")] if summary.user else []),
        ("points each", _spread(summary.points_per_trajectory)),
        ("distance", _spread(summary.distance, unit)),
        ("longest step", f"{_number(summary.longest_step)} {unit}"),
        ("interval", _spread(summary.interval_seconds, "s") if summary.interval_seconds else "no times"),
    ]
    if summary.duration_seconds:
        rows.append(("duration", _spread(summary.duration_seconds, "s")))
    if summary.first_time:
        rows.append(("from, to", f"{summary.first_time}, {summary.last_time}"))
    rows += [("impossible", said) for said in summary.impossible]
    if summary.jumps:
        rows.append(("jumps", f"{count(summary.jumps, 'step')} longer than a quarter of the map, not cut"))
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
