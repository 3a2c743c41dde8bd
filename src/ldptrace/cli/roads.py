"""`ldptrace roads`: describe, draw or convert a road network."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from ldptrace.cli.common import JsonOption, Progress, check_outputs, note, write_text
from ldptrace.cli.options import with_options
from ldptrace.core.reading import Reading
from ldptrace.errors import InputError


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
    from ldptrace.core.atomic import atomic_path
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
            found = read_roads(network, mode, connected=box is None)
            if box is not None:
                found = found.clipped(box).largest_component()
            if to_crs is not None:
                found = found.to_crs(to_crs)
        if output is not None:
            with stages("write"):
                if output.suffix.lower() in FORMATS:
                    with atomic_path(output) as temporary:
                        draw(found, temporary)
                else:
                    write_roads(found, output)
    if json_file is not None:
        write_text(json.dumps(facts(found), indent=2), json_file)
    if str(json_file) != "-":
        typer.echo(explain_roads(found))
    if output is not None:
        note(f"{found.nodes:,} nodes, {found.edges:,} directed edges: {output}")
