"""Send the files of a release, for operators and for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ldptrace.server import releases
from ldptrace.server.state import State
from ldptrace.web.problems import ServerProblem, not_found

# How an operation that sends a file is described.
FILE: dict[str, Any] = {
    "gives": {
        kind.partition(";")[0]: Any for kind in ("application/octet-stream", *releases.MEDIA_TYPES.values())
    },
    "answer": "The file.",
    "problems": (ServerProblem.NOT_FOUND,),
}


async def file_answer(request: Request, number: int | None, before: str = "") -> Response:
    """Return the file of a release, or of the window `number`, that a request names, part by part: it need not fit into
    the memory. Browsers store it under its name with `before` before it."""
    state, name, file = State.of(request), request.path_params["name"], request.path_params["file"]
    stored = releases.folder_of(number) + file

    known = releases.is_file_name(file) and (number is None or number >= 0)
    parts = await state.read(lambda session: releases.parts_of(session, name, stored)) if known else {}
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
        headers={
            "content-disposition": f'attachment; filename="{before}{file}"',
            "content-length": str(sum(parts.values())),
        },
    )
