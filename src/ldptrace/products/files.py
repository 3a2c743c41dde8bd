"""Write the files of results, with the privacy promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ldptrace.core.atomic import atomic_path, together
from ldptrace.errors import InputError
from ldptrace.io.provenance import KEY, to_text, write_beside


def checked_target(path: str | Path, what: str, extensions: Sequence[str]) -> Path:
    """Return the path of an output file, or raise an error if its extension is not allowed."""
    target = Path(path)
    if target.suffix not in extensions:
        raise InputError(f"{what} written as {', '.join(extensions)}, got {target.name}")
    return target


def write_table(table: pa.Table, target: Path, promise: Mapping[str, Any] | None) -> None:
    """Write a table as Parquet, with the privacy promise in the file, or as CSV, with the promise in a second file."""
    with together():
        with atomic_path(target) as temporary:
            if target.suffix == ".parquet":
                import pyarrow.parquet as pq

                if promise is not None:
                    table = table.replace_schema_metadata({KEY: to_text(promise)})
                pq.write_table(table, temporary)
            else:
                import pyarrow.csv as pc

                pc.write_csv(table, temporary)
        if target.suffix != ".parquet":
            write_beside(target, promise)
