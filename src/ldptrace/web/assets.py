"""The files that pages load: those of the pages themselves, and the browser client."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.web.problems import Refused, ServerProblem

FOLDER = Path(__file__).parents[1] / "server" / "assets"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@cache
def assets() -> dict[str, bytes]:
    """Return all files that pages may load, by name. Other names are never looked up on disk."""
    files = {path.name: path for path in FOLDER.iterdir() if path.suffix in TYPES}
    # The browser client is inside an installed package, or beside `src` in the repository.
    client = FOLDER / "client"
    client = client if client.is_dir() else Path(__file__).parents[3] / "clients" / "js"
    files |= {f"client/{path.relative_to(client)}": path for path in (client / "src").glob("*.js")}
    files["client/index.js"] = client / "index.js"
    return {name: path.read_bytes() for name, path in files.items()}


async def asset(request: Request) -> Response:
    """Return the file that a request names."""
    return asset_answer(request.path_params["path"])


def asset_answer(name: str) -> Response:
    """Return a file that a page loads, or the page itself."""
    data = assets().get(name)
    if data is None:
        raise Refused(ServerProblem.NOT_FOUND)
    return Response(data, media_type=TYPES[Path(name).suffix], headers={"cache-control": "no-cache"})
