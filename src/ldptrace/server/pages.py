"""The pages for operators and contributors. They load only files of this package and the browser client."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ldptrace.server.downloads import file_answer
from ldptrace.server.readme import PROFILE
from ldptrace.server.registry import find_public
from ldptrace.server.release_list import list_page, policy, published
from ldptrace.server.releases import PAGE, file_of
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.web.problems import Refused, ServerProblem, not_found

FOLDER = Path(__file__).parent / "assets"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@cache
def client_folder() -> Path:
    """Return the folder of the browser client: inside an installed package, or beside `src` in the repository."""
    inside = FOLDER / "client"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "clients" / "js"


@cache
def _assets() -> dict[str, bytes]:
    """Return all files that pages may load, by name. Other names are never looked up on disk."""
    files = {path.name: path for path in FOLDER.iterdir() if path.suffix in TYPES}
    client = client_folder()
    files |= {f"client/{path.relative_to(client)}": path for path in (client / "src").glob("*.js")}
    files["client/index.js"] = client / "index.js"
    return {name: path.read_bytes() for name, path in files.items()}


async def operator(request: Request) -> Response:
    return _file("operator.html")


async def contributor(request: Request) -> Response:
    """The page of one campaign."""
    state, name = State.of(request), request.path_params["name"]
    await state.read(lambda session: find_public(session, name))
    return _file("contributor.html")


async def release(request: Request) -> Response:
    """The page of a campaign's release, for everybody; of a standing campaign, the list of its releases."""
    state, name = State.of(request), request.path_params["name"]

    def releases(session: Session) -> bytes:
        campaign = find_public(session, name)
        return list_page(campaign, published(session, name)).encode() if campaign.plan.standing else b""

    found = await state.read(releases)
    return _made(found) if found else await released_page(request)


async def released_page(request: Request) -> Response:
    """The page of a release, or of one window's, for everybody; its links lead to what lies beside it."""
    page = await _released(request, PAGE)
    base = f'<head>\n<base href="{request.url.path}/">'.encode()
    return _made(page.replace(b"<head>", base, 1))


async def profile(request: Request) -> Response:
    """The profile in a release, or in one window's, for everybody."""
    return _made(await _released(request, PROFILE))


async def released_file(request: Request) -> Response:
    """A file of a release, or of one window's, for everybody."""
    state, name, file = State.of(request), request.path_params["name"], request.path_params["file"]
    number = await state.read(lambda session: _place(session, request))
    return await file_answer(state, name, number, file, file)


async def _released(request: Request, file: str) -> bytes:
    """A page of a campaign's release or, where the address has a number, of that window's."""
    state, name = State.of(request), request.path_params["name"]
    data = await state.read(lambda session: file_of(session, name, file, _place(session, request)))
    if not data:
        raise not_found(f"the release of campaign {name} has no {file}")
    return data


def _place(session: Session, request: Request) -> int | None:
    """The place of a release that is published: None for that of a whole campaign."""
    name, number = request.path_params["name"], request.path_params.get("round")
    campaign = find_public(session, name)
    if number is None:
        if campaign.state != "published":
            raise not_found(f"campaign {name} is not published")
        return None
    if number not in {one.round for one in published(session, name)}:
        raise not_found(f"campaign {name} has no release {number}")
    return int(number) - 1


def _made(page: bytes) -> Response:
    """Return a page of a campaign, with a content security policy that allows only its own style."""
    return Response(page, media_type="text/html", headers={"content-security-policy": policy(page)})


async def home(request: Request) -> Response:
    return RedirectResponse("/operate", status_code=307)


async def asset(request: Request) -> Response:
    return _file(request.path_params["path"])


def _file(name: str) -> Response:
    data = _assets().get(name)
    if data is None:
        raise Refused(ServerProblem.NOT_FOUND)
    return Response(data, media_type=TYPES[Path(name).suffix], headers={"cache-control": "no-cache"})
