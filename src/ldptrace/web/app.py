"""An application of routes: each with a rate limit, and with problem documents for everything that is refused. What
its requests share lives as long as the application runs. Pages load files of the package, and the browser client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, Self, TypeVar

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldptrace.errors import LdptraceError
from ldptrace.protocol.problems import PlanRefused
from ldptrace.web.answers import HEADERS, Envelope, JsonAnswer, problem_answer
from ldptrace.web.intake import Intake
from ldptrace.web.limits import Arriving, RateLimit, Settings
from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable

Endpoint = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")
# The files of pages.
FOLDER = Path(__file__).parents[1] / "server" / "assets"
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


class Shared:
    """What all requests to a server share: its settings, limits, intake, and threads for what waits. `beside` is the
    work that goes on beside the requests."""

    beside: tuple[Callable[[], Awaitable[None]], ...] = ()
    # Called with the route and the status of every answer.
    answered: Callable[[str, int], None] = staticmethod(lambda route, status: None)

    def __init__(self, settings: Settings, intake: Intake[Any, Any], threads: int) -> None:
        self.settings = settings
        self.rate = RateLimit(settings.rate, settings.burst)
        self.arriving = Arriving()
        # It has a thread of its own, so that nothing here can make devices wait.
        self.intake = intake
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="requests")

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return what the requests to this server share."""
        state: Self = request.app.state.shared
        return state

    async def call(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run something that waits, for the database for example, in a thread."""
        doing = partial(work, *given, **named)
        return await asyncio.get_running_loop().run_in_executor(self._threads, doing)

    async def stop(self) -> None:
        """Store what was accepted, then end."""
        await self.intake.stop()
        self._threads.shutdown()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take submissions, and do the work beside the requests."""
        self.intake.start()
        tasks = [asyncio.ensure_future(work()) for work in self.beside]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.stop()


class Number(IntegerConvertor):
    """A number of at most nine digits in a path; any other text gives "not found"."""

    regex = "[0-9]{1,9}"


class Window(IntegerConvertor):
    """The number of a window in a path, without zeros before it."""

    regex = "0|[1-9][0-9]{0,9}"


register_url_convertor("number", Number())
register_url_convertor("window", Window())


async def healthz(request: Request) -> Response:
    """Tell that the process runs."""
    return JsonAnswer({"status": "ok"})


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


def make_app(
    routes: Sequence[tuple[str, str, Endpoint]],
    begin: Callable[[], Shared],
    headers: Mapping[str, str] = HEADERS,
) -> Envelope:
    """Make an application. `begin` makes what its requests share, once it runs."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.shared = begin()
        made.answered = app.state.shared.answered
        async with app.state.shared.running():
            yield

    app = Starlette(
        routes=[
            Route(path, _limited(endpoint, path), methods=[method], name=endpoint.__name__)
            for method, path, endpoint in routes
        ],
        exception_handlers={
            LdptraceError: _refused,
            HTTPException: _http_problem,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    made = Envelope(app, headers)
    return made


def _limited(endpoint: Endpoint, path: str) -> Endpoint:
    """Return the endpoint with a rate limit, and with its path for the metrics."""

    async def limited(request: Request) -> Response:
        request.scope["route_path"] = path
        client = request.client
        if not request.app.state.shared.rate.allows(client.host if client else None):
            return problem_answer(ServerProblem.RATE_LIMITED)
        return await endpoint(request)

    return limited


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return problem_answer(error.problem, error.detail)
    if isinstance(error, PlanRefused):
        return problem_answer(error.problem, str(error))
    if isinstance(error, StorageUnavailable):
        return problem_answer(ServerProblem.STORAGE_UNAVAILABLE)
    return problem_answer(ServerProblem.BAD_REQUEST, str(error))


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        answer = problem_answer(ServerProblem.METHOD_NOT_ALLOWED)
        answer.headers.update(error.headers or {})
        return answer
    return problem_answer(ServerProblem.NOT_FOUND if error.status_code == 404 else ServerProblem.BAD_REQUEST)
