"""Whatever file they come from, roads become the same network."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import FormatError, InputError
from ldptrace.roads import RoadNetwork, read_roads
from road_kit import block, write_geojson, write_pbf


def as_text(roads: RoadNetwork) -> list[str]:
    """Edges as sorted text, so that networks compare whatever the order of their nodes."""
    place = [f"{x:.5f} {y:.5f}" for x, y in zip(roads.x, roads.y, strict=True)]
    return sorted(
        f"{place[a]} > {place[b]} {length:.1f} {roads.classes[kind]}"
        for a, b, length, kind in zip(roads.source, roads.target, roads.length, roads.road_class, strict=True)
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The block in every format of lines."""
    import pyogrio.raw
    import shapely

    features = block()
    json_file = write_geojson(tmp_path / "block.geojson", features)
    (tmp_path / "block.geojson.gz").write_bytes(gzip.compress(json_file.read_bytes()))
    files = {
        "geojson": json_file,
        "packed": tmp_path / "block.geojson.gz",
        "pbf": write_pbf(tmp_path / "block.osm.pbf", features),
    }
    lines = shapely.to_wkb(
        np.array([shapely.LineString(part["geometry"]["coordinates"]) for part in features])
    )
    names = ["highway", "maxspeed", "oneway"]
    columns = [np.array([part["properties"].get(name) for part in features], dtype=object) for name in names]
    for kind, driver in (("gpkg", "GPKG"), ("shp", "ESRI Shapefile")):
        files[kind] = tmp_path / f"block.{kind}"
        pyogrio.raw.write(
            files[kind], lines, columns, names, geometry_type="LineString", crs="EPSG:4326", driver=driver
        )
    return files


def test_all_formats_give_the_same_network(files: dict[str, Path]) -> None:
    networks = {kind: read_roads(path) for kind, path in files.items()}
    first = networks["pbf"]
    assert first.seconds is not None
    # Nodes where the ring begins and where the street meets it: three streets both ways, one northwards.
    assert (first.nodes, first.edges) == (3, 7)
    for kind, roads in networks.items():
        assert as_text(roads) == as_text(first), kind
        # The name is published with the trips, so it has no folders of this machine.
        assert roads.name == files[kind].name
        assert roads.crs == "EPSG:4326"
        assert roads.account.dropped_streets == {"not for cars": 1}, kind
        assert roads.seconds is not None
        np.testing.assert_allclose(np.sort(roads.seconds), np.sort(first.seconds), rtol=1e-6)


def test_the_bend_of_a_street_is_kept(files: dict[str, Path]) -> None:
    roads = read_roads(files["pbf"])
    one_way = int(np.flatnonzero(roads.opposite < 0)[0])
    x, y, _ = roads.lines([one_way])
    assert (x.tolist(), y.tolist()) == ([13.40075, 13.4008, 13.40075], [52.5, 52.5005, 52.501])
    assert roads.classes[roads.road_class[one_way]] == "living_street"


def test_modes_choose_ways_and_directions(files: dict[str, Path]) -> None:
    on_foot = read_roads(files["pbf"], "foot")
    assert "footway" in on_foot.classes
    assert (on_foot.opposite >= 0).all()
    by_bicycle = read_roads(files["pbf"], "bicycle")
    assert "footway" not in by_bicycle.classes
    assert (by_bicycle.opposite < 0).sum() == 1


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.geojson", "{", "this is not GeoJSON"),
        ("a.geojson", "[1]", "not a FeatureCollection of lines"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}', "there are no roads in it"),
        ("a.geojson", '{"type": "Feature", "geometry": {"type": "LineString"}}', "feature 1 is broken"),
        ("a.osm.pbf", "nonsense", "this is not an OpenStreetMap extract"),
        ("a.gpkg", "nonsense", "cannot be read"),
        ("a.shp", "nonsense", "cannot be read"),
        ("a.graphml", "nonsense", "this is not well-formed XML"),
        ("a.graphml", "<gpx/>", "there is no graph in it"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str, content: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_roads(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "package"), [("a.osm.pbf", "osmium"), ("a.gpkg", "pyogrio")])
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    (tmp_path / name).write_text("")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package} is needed .*pip install 'ldptrace\[roads\]'"):
        read_roads(tmp_path / name)


def test_unknown_files_and_modes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "roads.dwg").write_text("")
    with pytest.raises(FormatError, match=r"nodes.csv and edges.csv, or a file .osm.pbf"):
        read_roads(tmp_path / "roads.dwg")
    with pytest.raises(InputError, match="there is no file or folder"):
        read_roads(tmp_path / "nothing.graphml")
    with pytest.raises(InputError, match="the mode can be car, bicycle, foot, not 'boat'"):
        read_roads(tmp_path / "roads.dwg", "boat")
