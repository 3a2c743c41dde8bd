from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io import read, write

LINES = Trajectories(
    np.linspace(8, 9, 12),
    np.linspace(50, 51, 12),
    [0, 5, 6, 6, 12],
    t=1e9 + 15.0 * np.arange(12),
    ids=[3, 1, 4, 15],
    crs="EPSG:4326",
    extra=pa.table({"mode": ["bus", "tram", "bus", "ferry"], "seats": [1, 2, 3, 4]}),
)
PLT = (
    "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    + ("39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\r\n" * 5)
)
KML = (
    '<kml xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><name>a</name><gx:Track>'
    "<when>2008-10-23T02:53:04Z</when><gx:coord>8 50 0</gx:coord></gx:Track>"
    "<LineString><coordinates>8,50 9,51</coordinates></LineString></Placemark></kml>"
)
FIX = '{"latitudeE7": 500000000, "longitudeE7": 80000000, "timestampMs": "1224730384000", "a": [{"b": null}]}'
TEXTS = {
    "a.kml": KML,
    "history.json": f'{{"locations": [{FIX}, {FIX}]}}',
    "a.plt": PLT,
    "a.txt": "1,2008-02-02 15:36:08,116.5,39.9\n2,2008-02-02 15:36:09,116.5,39.8\n" * 3,
    "porto.csv": '"TRIP_ID","TIMESTAMP","MISSING_DATA","POLYLINE"\n"7","1372636858","False","[[-8.6,41.1]]"\n',
}
PIECES = [
    b"",
    b",",
    b"\n",
    b";",
    b'"',
    b"nan",
    b"1e999",
    b"\0",
    b"\xff",
    b"[",
    b"{}",
    b"null",
    b"<",
    b"abc",
    b"9" * 25,
]


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.csv.gz", "a.dat", "a.gpx", "a.geojson", *TEXTS])
@pytest.mark.filterwarnings("ignore:.*has no row in")
def test_a_mangled_file_is_read_or_refused_in_one_sentence(
    tmp_path: Path, rng: np.random.Generator, name: str
) -> None:
    path = tmp_path / name
    if name in TEXTS:
        path.write_bytes(TEXTS[name].encode())
    else:
        write(LINES, path)
    whole = path.read_bytes()
    assert read(path).points > 0
    for _ in range(60):
        mangled = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 4)):
            mangled[place : place + int(rng.integers(0, 5))] = PIECES[rng.integers(len(PIECES))]
        path.write_bytes(bytes(mangled) or b"x")
        complaint = _complaint(path)
        assert complaint is None or (complaint.startswith(f"{path}: ") and "\n" not in complaint)


def _complaint(path: Path) -> str | None:
    try:
        read(path)
    except InputError as error:
        return str(error)
    return None
