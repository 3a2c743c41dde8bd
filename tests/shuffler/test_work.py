"""The work of a request to a shuffler, against the size of each of its parts, as for a curator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ldptrace.protocol.plan import Plan
from ldptrace.shuffler import app
from ldptrace.shuffler.app import ROUTES, create_app
from ldptrace.shuffler.sender import Request
from ldptrace.shuffler.store import Store
from ldptrace.web.limits import MAX_HEAD, Settings
from shuffler_kit import NOW, sealed, serving_both, standing, telling
from work_kit import FEW, Application

ROOM = MAX_HEAD - 2_000
TYPE = {"Content-Type": "application/vnd.ldptrace.sealed"}


def clock() -> float:
    return NOW


def unreachable(request: Request) -> tuple[int, str]:
    raise OSError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return serving_both(tmp_path, clock)


@pytest.fixture
def shuffler(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr(app, "MAINTAIN", 1e6)
    found = Application(create_app(store, Settings(clock=clock), unreachable))
    yield found
    found.stop()


def _part(path: str, part: str, plan: Plan) -> tuple[str, dict[str, str], bytes]:
    known = path.replace("{plan}", plan.id).replace("{window:window}", "3").replace("{path:path}", "x")
    large = "a" * ROOM
    if part == "query":
        return f"{known}?after={large[: ROOM // 2]}&{'b=&' * (ROOM // 8)}", {}, b""
    if part == "header":
        return known, {"X-Any": large[: ROOM // 2], "Cookie": "a=b;" * (ROOM // 8)}, b""
    if part in ("commas", "code", "type"):
        said = {
            "commas": {**TYPE, "Ldptrace-Admission": "," * ROOM},
            "code": {**TYPE, "Ldptrace-Admission": large},
            "type": {"Content-Type": ";" * ROOM},
        }
        return known, said[part], sealed(plan, 5, 3 if plan.standing else None).body
    if part == "body":
        return known, TYPE, bytes(1 << 20)
    if part == "window":
        return path.replace("{plan}", plan.id).replace("{window:window}", "9" * ROOM), TYPE, b"a"
    return (
        path.replace("{plan}", large).replace("{window:window}", "3").replace("{path:path}", large),
        TYPE,
        b"",
    )


@pytest.mark.parametrize("part", ["query", "header", "body", "commas", "code", "type", "window", "plan"])
def test_every_address_bounds_the_work_of_every_part(shuffler: Application, part: str) -> None:
    for plan in (telling(), standing()):
        for method, path, _ in ROUTES:
            where, headers, body = _part(path, part, plan)
            assert shuffler.work(method, where, headers, body) < FEW, (method, path)


def test_a_list_costs_little_for_each_plan(tmp_path: Path, shuffler: Application, store: Store) -> None:
    """Nothing is computed a second time, whoever asks and however many plans there are."""
    for number in range(60):
        store.add_plan(
            telling(operator=f"Operator {number}"),
            "http://curator.example/v1/campaigns/trips",
            "token",
            admission=False,
        )
    status, body = shuffler.ask("GET", "/v2/plans")
    assert (status, len(json.loads(body)["plans"])) == (200, 62)
    assert shuffler.work("GET", "/v2/plans") < FEW
