"""The coordinate system that the kind of a file states, whatever points it holds."""

from __future__ import annotations

from pathlib import Path

from ldptrace.core import layers
from ldptrace.core.crs import WGS84
from ldptrace.errors import InputError
from ldptrace.io import csv, geojson, parquet
from ldptrace.io.sources import files_of

# Formats of longitudes and latitudes, also when a file is empty.
GEOGRAPHIC = ("gpx", "kml", "google", "porto", "checkins", "geolife", "tdrive")
OBJECTS = ("geojson", "trips", "mfjson")
LAYERS = ("geopackage", "shapefile")


def stated_crs(path: Path, format: str | None = None) -> str | None:
    """What the format or metadata of the whole file say; None where they say nothing.

    A device may refuse a file for it, because it is the same with and without points.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     empty = Path(folder, "empty.geojson")
    ...     _ = empty.write_text("")
    ...     stated_crs(empty)
    'EPSG:4326'
    """
    with files_of(path, format) as (kind, files):
        if kind.name in GEOGRAPHIC:
            return WGS84
        try:
            if kind.name in OBJECTS:
                return geojson.stated_crs(files[0])
            if kind.name == "parquet":
                return parquet.stated_crs(files[0])
            if kind.name in LAYERS:
                return layers.stated_crs(files[0])
            return csv.stated_crs(files[0]) if kind.name == "csv" else None
        except (InputError, ValueError, OSError):
            return WGS84 if kind.name in OBJECTS else None
