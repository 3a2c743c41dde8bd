"""What operators ask for: the life of a campaign over HTTP, each request with a token that allows it."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

import pytest

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import Standing
from ldptrace.server import tokens
from ldptrace.server.app import ROUTES
from ldptrace.server.counting import Counter, Submission
from server_kit import SINGLE, TELLING, TYPE, Client, code, drawn, opened, telling_report
from shuffler_kit import KEY, telling


@pytest.mark.slow
def test_a_shuffled_campaign_takes_no_key_from_outside(client: Client) -> None:
    facts = {"users": 9_000, "epsilon": 1, "bounds": [0, 0, 6, 6], "shuffled": True, "key": KEY.public.hex()}
    with client as http:
        refused = http.post("/v1/operator/campaigns", json={"name": "trips"} | facts, headers=client.token)
        assert (refused.status_code, code(refused)) == (400, "bad-request")
        assert "omit key" in refused.text
        plan = {"plan": telling().changed(campaign=None).document()}
        refused = http.post("/v1/operator/campaigns", json={"name": "trips"} | plan, headers=client.token)
        assert (refused.status_code, code(refused)) == (400, "bad-request")
        assert "its private key is missing" in refused.text
        assert http.get("/v1/operator/campaigns/trips", headers=client.token).status_code == 404


@pytest.mark.slow
def test_operators(client: Client) -> None:
    with client as http:
        facts = {"name": "trips", "users": 500, "epsilon": 1.5, "grid": 6, "bounds": [0, 0, 6, 6]}
        made = http.post("/v1/operator/campaigns", json=facts | {"min_reports": 200}, headers=client.token)
        assert made.status_code == 201
        base = "/v1/operator/campaigns/trips"
        assert http.post(f"{base}/open", headers=client.token).json()["state"] == "open"
        plan = Plan.from_json(http.get("/v1/campaigns/trips/plan").content)
        # Each device draws its question: of so many, some are asked where they were.
        reports = drawn(plan, 200)
        path = "/v1/campaigns/trips/reports"
        http.post(path, content=b"".join(reports[:-1]), headers=TYPE)
        assert code(http.get(f"{base}/estimates", headers=client.token)) == "not-enough-reports"
        assert code(http.get(f"{base}/tallies/1", headers=client.token)) == "not-enough-reports"
        http.post(path, content=reports[-1], headers=TYPE)
        assert len(http.get(f"{base}/estimates", headers=client.token).json()["density"]["values"]) == 36
        tally = http.get(f"{base}/tallies/1", headers=client.token)
        assert sum(ask["users"] for ask in tally.json()["asks"]) == 200
        assert code(http.post(f"{base}/publish", headers=client.token)) == "wrong-state"
        assert code(http.delete(base, headers=client.token)) == "wrong-state"
        assert http.post(f"{base}/close", headers=client.token).json()["state"] == "closed"
        late = http.post(path, content=drawn(plan, 1)[0], headers=TYPE)
        assert (late.status_code, code(late)) == (409, "round-closed")
        assert code(http.post(path, content=reports[0], headers=TYPE)) == "duplicate"
        shown = http.get(base, headers=client.token).json()
        assert (shown["reports"], shown["rejected"]) == (200, {"duplicate": 1, "round-closed": 1})
        metrics = http.get("/metrics", headers=client.token).text
        assert 'ldptrace_reports_total{campaign="trips",outcome="counted"} 200' in metrics
        assert 'route="/v1/campaigns/{name}/reports",status="200"' in metrics
        assert (
            http.put(f"{base}/roads/nodes.csv", content=b"id,x,y\n", headers=client.token).status_code == 204
        )
        assert http.get(base, headers=client.token).json()["files"] == []
        for name in ("%00", "..%00", "a" * 201):
            assert code(http.get(f"{base}/files/{name}", headers=client.token)) == "not-found"
            assert code(http.put(f"{base}/roads/{name}", content=b"", headers=client.token)) == "bad-request"
        log = http.get("/v1/operator/audit", headers=client.token).json()["entries"]
        assert [entry["action"] for entry in log] == ["create token", "create", "open", "close", "roads"]
        assert http.delete(base, headers=client.token).status_code == 204
        assert code(http.get(base, headers=client.token)) == "no-such-campaign"


def test_statistics_are_loaded_beside_the_requests(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded_by = []

    class Series(types.ModuleType):
        @property
        def series(self) -> Any:
            loaded_by.append(threading.current_thread().name)
            return lambda session, campaign: {"name": campaign.name}

    monkeypatch.setitem(sys.modules, "ldptrace.server.series", Series("ldptrace.server.series"))
    opened(client.database, "trips", SINGLE)
    with client as http:
        answer = http.get("/v1/operator/campaigns/trips/series", headers=client.token)
    assert answer.json() == {"name": "trips"}
    assert [name.startswith("requests") for name in loaded_by] == [True]


def test_every_request_of_operators_needs_a_token(client: Client) -> None:
    opened(client.database, "trips", SINGLE)
    opened(client.database, "other", SINGLE)
    reader, _ = tokens.create_token(client.database, "trips", "read", "", actor="test")
    read = {"Authorization": f"Bearer {reader}"}
    with client as http:
        for method, path, _ in ROUTES:
            if not path.startswith(("/v1/operator", "/metrics")):
                continue
            here = (
                path.format(name="trips", file="x", round=1)
                if "round:" not in path
                else ("/v1/operator/campaigns/trips/tallies/1")
            )
            for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eDp5"}):
                answer = http.request(method, here, headers=headers)
                assert (answer.status_code, code(answer)) == (401, "unauthorized"), path
            if method != "GET":
                assert code(http.request(method, here, headers=read)) == "forbidden"
            elif "{name}" in path:
                other = here.replace("trips", "other")
                assert code(http.request(method, other, headers=read)) == "forbidden"
        # A list shows what the token can see.
        listed = http.get("/v1/operator/campaigns", headers=read).json()["campaigns"]
        assert [entry["name"] for entry in listed] == ["trips"]


def test_bodies_that_are_no_campaign(client: Client) -> None:
    bodies: list[Any] = [
        [],
        {},
        {"name": 3},
        {"name": "a"},
        {"name": "a", "plan": 3},
        {"name": "a", "plan": {}, "users": 3},
        {"name": "a", "users": 3, "epsilon": 1},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, "1"]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [1, 0, 0, 1]},
        {"name": "a", "users": 0, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": True, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 0, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": "1e400", "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": "1e-99999", "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 10**400, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 10**400]},
        {
            "name": "a",
            "users": 3,
            "epsilon": 1,
            "bounds": [0, 0, 1, 1],
            "time": True,
            "centre": [0, -(10**400)],
        },
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "grid": 10**400},
        {"name": "a", "users": 10**400, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a\0", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "title": "\0", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "grid": 1},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "grid": 6.5},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "crs": 4326},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1e308, 1e308]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "time": "yes"},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "week": True},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "time": True, "centre": [3, 3]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "time": True, "centre": "here"},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "colour": "red"},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "min_reports": -1},
        {"name": "a" * 70, "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1]},
    ]
    with client as http:
        for body in bodies:
            answer = http.post("/v1/operator/campaigns", json=body, headers=client.token)
            assert answer.status_code in (400, 422), (body, answer.text)
            assert code(answer) in ("bad-request", "plan-malformed")
        for text in (b"{", b"\xff", b"[" * 100_000):
            answer = http.post(
                "/v1/operator/campaigns",
                content=text,
                headers=client.token | {"Content-Type": "application/json"},
            )
            assert code(answer) == "bad-request"
        assert http.get("/v1/operator/campaigns", headers=client.token).json()["campaigns"] == []


def test_a_release_of_the_first_versions_is_served_under_the_name_it_was_made_with(client: Client) -> None:
    opened(client.database, "trips", SINGLE)
    with client.database.writing() as session:
        for name in ("scorecard.json", "0/scorecard.json"):
            session.run("INSERT INTO files VALUES ('trips', ?, 0, ?)", name, name.encode())
    with client as http:
        base = "/v1/operator/campaigns/trips"
        shown = http.get(base, headers=client.token).json()["files"]
        assert [file["name"] for file in shown] == ["scorecard.json"]
        for path, stored in (("", b"scorecard.json"), ("/rounds/1", b"0/scorecard.json")):
            found = http.get(f"{base}{path}/files/scorecard.json", headers=client.token)
            assert (found.status_code, found.content) == (200, stored)
            assert code(http.get(f"{base}{path}/files/fit.json", headers=client.token)) == "not-found"


def test_windows_have_tallies_and_files_of_their_own(client: Client) -> None:
    week = 7 * 86_400
    plan = opened(
        client.database,
        "weekly",
        TELLING.changed(standing=Standing.of(week, epsilon=1, start=0)),
        min_reports=1,
    )
    for window, value in ((3, 7), (4, 9)):
        Counter(client.database, lambda at=(window + 1.0) * week: at).count(  # type: ignore[misc]
            "weekly", [Submission(telling_report(value, plan, window))]
        )
    with client.database.writing() as session:
        for part, data in enumerate((b"one ", b"two")):
            session.run("INSERT INTO files VALUES ('weekly', '1/README.md', ?, ?)", part, data)
    with client as http:
        base = "/v1/operator/campaigns/weekly"
        for number, window, value in ((1, 3, 7), (2, 4, 9)):
            tally = http.get(f"{base}/tallies/{number}", headers=client.token).json()
            assert (tally["window"], tally["asks"][0]["counts"][value]) == (window, 1)
        assert code(http.get(f"{base}/tallies/3", headers=client.token)) == "not-found"
        file = http.get(f"{base}/rounds/2/files/README.md", headers=client.token)
        assert file.content == b"one two"
        assert file.headers["content-disposition"] == 'attachment; filename="weekly-2-README.md"'
        for path in ("rounds/1/files/README.md", "rounds/0/files/README.md", "rounds/2/files/..%2fREADME.md"):
            assert code(http.get(f"{base}/{path}", headers=client.token)) == "not-found"
        shown = http.get(base, headers=client.token).json()["round_reports"]
        assert [one["begin"] for one in shown] == [3 * week, 4 * week]
