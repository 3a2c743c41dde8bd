"""The pages for operators and contributors, which load only files of this package and the browser client; and the files
of releases, for operators and for everybody."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from ldptrace.server import releases
from ldptrace.server.registry import find_public
from ldptrace.server.releases import PAGE, file_of
from ldptrace.server.rounds import published
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.web.app import asset_answer
from ldptrace.web.problems import ServerProblem, not_found


async def operator(request: Request) -> Response:
    return asset_answer("operator.html")


async def contributor(request: Request) -> Response:
    """Return the page of one campaign."""
    state, name = State.of(request), request.path_params["name"]
    await state.read(lambda session: find_public(session, name))
    return asset_answer("contributor.html")


async def release(request: Request) -> Response:
    """Return the page of a campaign's release, for everybody; of a standing campaign, the list of its releases."""
    state, name = State.of(request), request.path_params["name"]

    def listed(session: Session) -> bytes:
        campaign = find_public(session, name)
        if campaign.plan.standing is None:
            return b""
        # Templates take a moment to load, which a server that only counts need not spend.
        from ldptrace.server.release_pages import list_page

        return list_page(campaign, published(session, name)).encode()

    page = await state.read(listed)
    return _made(page) if page else await released_page(request)


async def released_page(request: Request) -> Response:
    """Return the page of a release, or of one window's, for everybody; its links lead to what lies beside it."""
    page = await _released(request, PAGE)
    base = f'<head>\n<base href="{request.url.path}/">'.encode()
    return _made(page.replace(b"<head>", base, 1))


async def profile(request: Request) -> Response:
    """Return the profile in a release, or in one window's, for everybody."""
    return _made(await _released(request, "profile.html"))


async def released_file(request: Request) -> Response:
    """Return a file of a release, or of one window's, for everybody."""
    number = await State.of(request).read(lambda session: _place(session, request))
    return await file_answer(request, number)


async def _released(request: Request, file: str) -> bytes:
    """Return a page of a campaign's release or, where the address has a number, of that window's."""
    state, name = State.of(request), request.path_params["name"]
    data = await state.read(lambda session: file_of(session, name, file, _place(session, request)))
    if not data:
        raise not_found(f"the release of campaign {name} has no {file}")
    return data


def _place(session: Session, request: Request) -> int | None:
    """Return the place of a release that is published: None for that of a whole campaign."""
    name, number = request.path_params["name"], request.path_params.get("round")
    campaign = find_public(session, name)
    if number is None:
        if campaign.state != "published":
            raise not_found(f"campaign {name} is not published")
        return None
    if number - 1 not in {one.number for one in published(session, name)}:
        raise not_found(f"campaign {name} has no release {number}")
    return int(number) - 1


def _made(page: bytes) -> Response:
    """Return a page of a campaign, with a content security policy that allows only its own style."""
    return Response(page, media_type="text/html", headers={"content-security-policy": policy(page)})


def policy(page: bytes) -> str:
    """Return the content security policy of a stored page, which allows the style in the page.

    >>> policy(b"<style>p {}</style>").split(";")[0]
    "default-src 'none'"
    """
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    style_policy = f"style-src 'sha256-{digest}'; style-src-attr 'unsafe-inline'"
    return f"default-src 'none'; {style_policy}; base-uri 'self'; frame-ancestors 'none'"


async def home(request: Request) -> Response:
    return RedirectResponse("/operate", status_code=307)


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
        media_type=releases.MEDIA_TYPES.get(PurePath(file).suffix, "application/octet-stream"),
        headers={
            "content-disposition": f'attachment; filename="{before}{file}"',
            "content-length": str(sum(parts.values())),
        },
    )
