"""Send the files of a release, for operators and for everybody."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.responses import Response, StreamingResponse

from ldptrace.server import releases
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.web.problems import not_found


async def file_answer(state: State, name: str, number: int | None, file: str, shown: str) -> Response:
    """Return a file of a campaign's release, or of the window `number`, part by part: it need not fit into the memory.
    `shown` is the name under which browsers store it."""
    stored = releases.folder_of(number) + file

    def found(session: Session) -> tuple[list[int], int]:
        return releases.parts_of(session, name, stored), releases.size_of(session, name, stored)

    known = releases.is_file_name(file) and (number is None or number >= 0)
    parts, size = await state.read(found) if known else ([], 0)
    if not parts:
        which = f"campaign {name}" if number is None else f"round {number + 1} of campaign {name}"
        raise not_found(f"{which} has no file {file[:80]!r}")

    def stream() -> Iterator[bytes]:
        for part in parts:
            with state.database.reading() as session:
                yield releases.part(session, name, stored, part)

    return StreamingResponse(
        stream(),
        media_type=releases.media_type(file),
        headers={"content-disposition": f'attachment; filename="{shown}"', "content-length": str(size)},
    )
