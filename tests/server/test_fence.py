"""Files from outside are read in a process of its own: what it may open, how much memory and time it may take."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from forged_kit import SECRET, forged
from ldptrace.errors import InputError
from ldptrace.server import fence
from ldptrace.server.fence import RATIO, UNPACKED
from server_kit import SINGLE, Client, opened, streets


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_streets_are_drawn_and_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    town = files(streets(tmp_path / "town"))
    packed = {f"{name}.gz": gzip.compress(data) for name, data in town.items()}
    drawn = json.loads(fence.drawing(SINGLE, town))
    assert len(drawn["lines"][2]) == 84
    assert json.loads(fence.drawing(SINGLE, packed)) == drawn
    roads = fence.network(packed)
    assert (roads.nodes, roads.edges) == (49, 168)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.gpkg", "x.shp", "x.geojson", "x.osm", "x.graphml", "x.net.xml"])
def test_a_file_that_names_other_files_is_not_followed(tmp_path: Path, name: str) -> None:
    naming = {name: forged(tmp_path / name, tmp_path).read_bytes()}
    with pytest.raises(InputError) as said:
        fence.drawing(SINGLE, naming)
    assert SECRET not in str(said.value)
    assert str(tmp_path) not in str(said.value)


@pytest.mark.slow
def test_a_road_file_never_opens_the_database(tmp_path: Path) -> None:
    """The forged file names the database of the running server, with the token of one campaign alone."""
    client = Client(tmp_path)
    with client as http:
        opened(client.database, "trips", SINGLE)
        source = tmp_path / "data" / "campaigns.sqlite"
        assert source.exists()
        before = {path.name: path.stat().st_ino for path in source.parent.iterdir()}
        shape = "LINESTRING(0 0, 6 6)"
        text = (
            f'<OGRVRTDataSource><OGRVRTLayer name="edges"><SrcDataSource>{source}</SrcDataSource><SrcSQL>SELECT '
            f"'{shape}' AS shape, hex(hash) AS name FROM tokens</SrcSQL>"
            '<GeometryField encoding="WKT" field="shape"/></OGRVRTLayer></OGRVRTDataSource>'
        )
        put = "/v1/operator/campaigns/trips/roads/x.gpkg"
        assert http.put(put, content=text.encode(), headers=client.token).status_code == 204
        assert http.get("/v1/campaigns/trips/streets").status_code == 404
        after = {path.name: path.stat().st_ino for path in source.parent.iterdir()}
        assert after == before, "the files of the database were removed or made anew"


@pytest.mark.slow
def test_memory_and_time_are_limited(tmp_path: Path) -> None:
    town = files(streets(tmp_path / "town"))
    for limits in ((48 << 20, 60), (1 << 30, 0)):
        with pytest.raises(InputError, match="the files cannot be read with"):
            fence.network(town, limits)


def test_the_process_is_limited_by_the_system() -> None:
    resource = pytest.importorskip("resource")
    say = "import resource; print(*(resource.getrlimit(kind)[0] for kind in (2, 0, 1, 4)))"
    assert (resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE) == (
        2,
        0,
        1,
        4,
    )
    program = f"from ldptrace.server.fence import _limit; _limit(1 << 30, 60); {say}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [int(limit) for limit in done.stdout.split()] == [1 << 30, 60, 4 << 30, 0]


@pytest.mark.slow
def test_the_process_does_not_inherit_what_the_server_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nenv > error.txt\nexit 2\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    monkeypatch.setenv("LDPTRACE_DATABASE", "postgresql://operator:word@host/db")
    with pytest.raises(InputError) as said:
        fence.network({})
    assert "PATH=" in str(said.value)
    assert "postgresql" not in str(said.value)
    assert str(tmp_path) not in str(said.value).partition("PWD=")[2].partition("\n")[0]


@pytest.mark.parametrize("packer", [gzip, bz2])
def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packer: object) -> None:
    monkeypatch.setattr(fence, "UNPACKED", 1 << 20)
    path = tmp_path / f"nodes.csv.{'gz' if packer is gzip else 'bz2'}"
    path.write_bytes(packer.compress(bytes(16 << 20)))  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"has at most .* bytes unpacked"):
        fence.unpack(path)
    assert path.with_suffix("").stat().st_size <= (1 << 20) + RATIO * path.stat().st_size
    text = b"".join(b"%d,%d,%d\n" % (row, row * row, row * 7) for row in range(20_000))
    path.write_bytes(packer.compress(text))  # type: ignore[attr-defined]
    fence.unpack(path)
    assert path.with_suffix("").read_bytes() == text
    assert not path.exists()
    assert UNPACKED == 64 << 20


def test_what_is_not_compressed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"
    path.write_text("id,x,y\n")
    with pytest.raises(InputError, match=r"nodes.csv.gz cannot be unpacked"):
        fence.unpack(path)
