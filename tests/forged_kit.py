"""Files that are not what their names say: documents that make GDAL open other files."""

from __future__ import annotations

import sqlite3
from pathlib import Path

SECRET = "the secret of another campaign"
FORGED = """<OGRVRTDataSource><OGRVRTLayer name="edges"><SrcDataSource>{source}</SrcDataSource>
<SrcSQL>SELECT '{shape}' AS shape, text AS name FROM secrets</SrcSQL>
<GeometryField encoding="WKT" field="shape"/></OGRVRTLayer></OGRVRTDataSource>"""
LINE = "LINESTRING(0 0, 1 1)"


def database_with_a_secret(folder: Path) -> Path:
    """A database as the server keeps it, with a write-ahead log that is not yet in the file."""
    path = folder / "campaigns.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE secrets (text TEXT)")
    connection.execute("INSERT INTO secrets VALUES (?)", (SECRET,))
    connection.commit()
    connection.close()
    return path


def forged(path: Path, folder: Path) -> Path:
    """A file of any name whose content is an OGR VRT, which names a database in the folder."""
    path.write_text(FORGED.format(source=database_with_a_secret(folder), shape=LINE))
    return path
