"""Files for simulators, read by SUMO itself; MATSim's against the grammar of its population files."""

from __future__ import annotations

import io
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sumo
from lxml import etree

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.simulators import Connections, routes_on, travellers_of, write_for
from ldptrace.roads import read_roads
from ldptrace.roads.library import Library

# The elements and attributes of population files of version 6 that are written here, and in which order they may stand.
GRAMMAR = """
<!ELEMENT population (attributes?, person*)> <!ATTLIST population desc CDATA #IMPLIED>
<!ELEMENT person (attributes?, plan*)> <!ATTLIST person id CDATA #REQUIRED>
<!ELEMENT plan (attributes?, (activity | leg)*)> <!ATTLIST plan selected (yes | no) "no">
<!ELEMENT activity (attributes?)>
<!ATTLIST activity type CDATA #REQUIRED x CDATA #IMPLIED y CDATA #IMPLIED end_time CDATA #IMPLIED>
<!ELEMENT leg (attributes?)> <!ATTLIST leg mode CDATA #REQUIRED>
<!ELEMENT attributes EMPTY>
"""


def trips(count: int, rng: np.random.Generator, low: float, high: float) -> Trajectories:
    """Trips of two points between random places of a square, all over the morning."""
    x, y = rng.uniform(low, high, (2, 2 * count))
    t = np.repeat(rng.uniform(0, 3600, count), 2) + np.tile([0.0, 600.0], count)
    return Trajectories(x, y, np.arange(0, 2 * count + 1, 2), t=t)


def program(name: str) -> str:
    return str(Path(sumo.SUMO_HOME) / "bin" / name)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A town of 8 x 8 junctions, made by SUMO."""
    path = tmp_path_factory.mktemp("net") / "town.net.xml"
    made = [program("netgenerate"), "--grid", "--grid.number", "8", "--grid.length", "150", "-L", "2"]
    subprocess.run([*made, "--no-turnarounds", "-o", str(path)], check=True, capture_output=True, timeout=60)
    return path


def simulated(network: Path, routes: Path) -> int:
    """How many vehicles arrive when SUMO drives the file."""
    info = routes.with_suffix(".info.xml")
    done = subprocess.run(
        [
            program("sumo"),
            "-n",
            network,
            "-r",
            routes,
            "--tripinfo-output",
            info,
            "--no-step-log",
            "--end",
            "20000",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    return len(etree.parse(info).findall("tripinfo"))


@pytest.mark.slow
def test_sumo_drives_every_trip(tmp_path: Path, network: Path, rng: np.random.Generator) -> None:
    made = trips(500, rng, 20, 1030)
    said = write_for(made, tmp_path / "town.trips.xml", "sumo-trips")
    assert said == "500 trips for SUMO by their coordinates"
    assert simulated(network, tmp_path / "town.trips.xml") == 500


@pytest.mark.slow
def test_sumo_drives_routes_on_its_own_edges(tmp_path: Path, network: Path, rng: np.random.Generator) -> None:
    """Trips of a model with the network as its map, and trips whose turns the network forbids."""
    roads = read_roads(network)
    routes = Library(400).draw(roads, rng)
    made = routes.points(spacing=20.0)
    made = replace(made, t=np.repeat(rng.uniform(0, 3600, len(made)), made.sizes))
    turning = Trajectories.from_lists([[(300.0, 2.0), (440.0, 2.0), (310.0, -2.0)]])
    made = Trajectories.concat([made, replace(turning, t=np.zeros(3))])
    said = write_for(made, tmp_path / "town.rou.xml", "sumo-routes", network)
    assert said == f"401 routes for SUMO on the edges of {network}"
    assert simulated(network, tmp_path / "town.rou.xml") == 401


@pytest.mark.slow
def test_sumo_drives_on_a_network_of_an_openstreetmap_extract(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Streets that a cycleway crosses; trips begin near it, and near a street that no other street leads to."""
    side = range(4)
    nodes = [
        f'<node id="{4 * i + j + 1}" lon="{13 + i / 400}" lat="{52 + j / 600}"/>' for i in side for j in side
    ]
    nodes.append('<node id="17" lon="13.003" lat="52.004"/><node id="18" lon="13.0032" lat="52.0042"/>')
    ways = [("residential", [4 * i + j + 1 for j in side]) for i in side]
    ways += [("residential", [4 * i + j + 1 for i in side]) for j in side]
    ways += [("cycleway", [1, 6, 11, 16]), ("residential", [17, 18])]
    text = "".join(nodes)
    for number, (kind, refs) in enumerate(ways, 1):
        listed = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        text += f'<way id="{number}">{listed}<tag k="highway" v="{kind}"/></way>'
    (tmp_path / "town.osm").write_text(f'<osm version="0.6">{text}</osm>')
    network = tmp_path / "town.net.xml"
    made = [program("netconvert"), "--osm-files", tmp_path / "town.osm", "-o", network, "--geometry.remove"]
    home = {"SUMO_HOME": str(sumo.SUMO_HOME)}
    subprocess.run(made, check=True, capture_output=True, timeout=60, env=home)
    routes = Library(300).draw(read_roads(network), rng)
    drawn = routes.points(spacing=20.0)
    drawn = replace(drawn, t=np.repeat(rng.uniform(0, 3600, len(drawn)), drawn.sizes))
    for simulator, ending in (("sumo-trips", "trips.xml"), ("sumo-routes", "rou.xml")):
        said = write_for(drawn, tmp_path / f"town.{ending}", simulator, network)
        assert said.startswith("300 ")
        assert simulated(network, tmp_path / f"town.{ending}") == 300


def test_trips_leave_in_the_order_of_their_departures(tmp_path: Path, rng: np.random.Generator) -> None:
    made = replace(trips(20, rng, 13, 13.1), crs="EPSG:4326", provenance={"epsilon": "1"})
    write_for(made, tmp_path / "a.trips.xml", "sumo-trips")
    rows = etree.parse(tmp_path / "a.trips.xml").findall("trip")
    leaves = [float(row.get("depart")) for row in rows]
    assert leaves == sorted(leaves)
    first = int(rows[0].get("id"))
    assert rows[0].get("fromLonLat") == f"{made[first].x[0]:.7f},{made[first].y[0]:.7f}"
    assert (tmp_path / "a.trips.xml.promise.json").exists()


def test_departures_count_from_the_first_midnight() -> None:
    dated = Trajectories([0, 1], [0, 1], [0, 1, 2], t=[1.7e9 + 86_400, 1.7e9], timezone="Asia/Tokyo")
    # 07:13:20 in Tokyo on the first day, and a day later.
    leaves, order, *_ = travellers_of(dated)
    assert leaves.tolist() == [26_000.0, 112_400.0]
    assert order.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("crs", "said"),
    [
        (None, "x and y are taken as metres"),
        ("EPSG:4326", "coordinates are EPSG:32633"),
        ("EPSG:25833", "coordinates are EPSG:25833"),
    ],
)
def test_matsim_reads_plans_in_metres(
    tmp_path: Path, rng: np.random.Generator, crs: str | None, said: str
) -> None:
    made = replace(trips(30, rng, 13, 13.5), crs=crs)
    assert write_for(made, tmp_path / "plans.xml", "matsim") == f"30 plans for MATSim ({said})"
    document = etree.parse(tmp_path / "plans.xml")
    assert document.docinfo.system_url.endswith("population_v6.dtd")
    grammar = etree.DTD(io.StringIO(GRAMMAR))
    assert grammar.validate(document), grammar.error_log
    first = document.find("person/plan/activity")
    assert first.get("end_time").count(":") == 2
    if crs == "EPSG:4326":
        assert 300_000 < float(first.get("x")) < 600_000
        assert 1_400_000 < float(first.get("y")) < 1_500_000


def test_what_cannot_be_simulated_is_refused(tmp_path: Path, rng: np.random.Generator) -> None:
    made = trips(3, rng, 0, 1)
    with pytest.raises(InputError, match="no times"):
        write_for(replace(made, t=None), tmp_path / "x.xml", "matsim")
    with pytest.raises(InputError, match="no trips to simulate"):
        write_for(made.take([]), tmp_path / "x.xml", "matsim")
    with pytest.raises(InputError, match="matsim takes coordinates and no roads: omit --roads"):
        write_for(made, tmp_path / "x.xml", "matsim", tmp_path)
    with pytest.raises(InputError, match="sumo-trips, sumo-routes, matsim, got 'vissim'"):
        write_for(made, tmp_path / "x.xml", "vissim")
    with pytest.raises(InputError, match="needs the SUMO network"):
        write_for(made, tmp_path / "x.xml", "sumo-routes")
    assert list(tmp_path.iterdir()) == []


LENGTH = {"a": 1.0, "b": 1.0, "c": 1.0, "far": 9.0}


def test_ways_lead_around_forbidden_turns() -> None:
    ways = Connections({"a": {"far", "c"}, "far": {"b"}, "c": {"b"}, "b": set()}, LENGTH)
    assert ways.allowed(["a", "c"]) == ["a", "c"]
    assert ways.allowed(["a", "b"]) == ["a", "c", "b"]
    assert ways.allowed(["a", "b", "a"]) == ["a", "c", "b"]
    assert ways.allowed([]) == []


def test_a_way_back_needs_another_edge() -> None:
    assert Connections({"a": {"b"}, "b": {"a"}, "c": set(), "far": set()}, LENGTH).allowed(["a", "a"]) == [
        "a",
        "b",
        "a",
    ]


def test_another_kind_of_network_is_refused() -> None:
    trips = Trajectories(np.zeros(2), np.zeros(2), [0, 2])
    with pytest.raises(InputError, match=r"edges of a SUMO network \(.net.xml\), got roads.gpkg"):
        routes_on(Path("roads.gpkg"), trips)


def test_lanes_that_are_closed_to_cars_lead_nowhere(tmp_path: Path) -> None:
    """As `netconvert` writes streets that meet a cycleway, and a lane for buses."""
    network = tmp_path / "town.net.xml"
    lane = '<lane id="{0}_{1}" index="{1}" {2} length="5.00"/>'
    edges = {
        "street": lane.format("street", 0, 'allow="bus"') + lane.format("street", 1, 'disallow="tram"'),
        "next": lane.format("next", 0, ""),
        "cycleway": lane.format("cycleway", 0, 'allow="bicycle"'),
    }
    joined = [
        '<connection from="street" to="next" fromLane="1" toLane="0"/>',
        '<connection from="next" to="street" fromLane="0" toLane="0"/>',
        '<connection from="street" to="cycleway" fromLane="1" toLane="0"/>',
        '<connection from="next" to="street" fromLane="0" toLane="1" allow="bus"/>',
    ]
    written = "".join(f'<edge id="{name}">{lanes}</edge>' for name, lanes in edges.items())
    network.write_text(f'<net><edge id=":0" function="internal"/>{written}{"".join(joined)}</net>')
    found = Connections.read(network)
    assert found.after == {"street": {"next"}, "next": set()}
    assert found.length == {"street": 5.0, "next": 5.0}
