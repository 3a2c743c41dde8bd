"""What devices and shufflers ask for: the plan, and to count reports and batches; a draft is nobody's business."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.server.storage.sqlite import SqliteSession
from ldptrace.server.tokens import create_token
from ldptrace.web.intake import Intake
from server_kit import SINGLE, TYPE, Client, code, drawn, opened
from shuffler_kit import BATCH, HOUR, NOW, batch_of, opened_shuffled, standing, telling

BATCH_TYPE = {"Content-Type": "application/vnd.ldptrace.batch"}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path, clock=lambda: NOW + 4.5 * HOUR)


def token(client: Client, campaign: str, scope: str) -> dict[str, str]:
    text, _ = create_token(client.database, campaign, scope, "", actor="test")
    return {"Authorization": f"Bearer {text}"}


def test_devices(client: Client) -> None:
    with client as http:
        opened(client.database, "trips", SINGLE)
        shown = http.get("/v1/campaigns/trips").json()
        assert (shown["state"], shown["round"], shown["plan"]) == ("open", 1, SINGLE.id)
        assert "reports" not in shown
        plan = http.get("/v1/campaigns/trips/plan")
        assert plan.headers["content-type"] == "application/vnd.ldptrace.plan+json"
        assert Plan.from_json(plan.content) == SINGLE
        same = http.get("/v1/campaigns/trips/plan", headers={"If-None-Match": plan.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        one, two, three = drawn(SINGLE, 3)
        path = "/v1/campaigns/trips/reports"
        assert http.post(path, content=one, headers=TYPE).json() == {"counted": 1, "problems": []}
        again = http.post(path, content=one, headers=TYPE)
        assert (again.status_code, code(again)) == (409, "duplicate")
        batch = http.post(path, content=one + two + b"\x02" + three[1:] + three, headers=TYPE)
        assert batch.status_code == 200
        assert batch.json() == {
            "counted": 2,
            "problems": [{"report": 0, "problem": "duplicate"}, {"report": 2, "problem": "unknown-version"}],
        }
        elsewhere = one[:1] + bytes(16) + one[17:]
        for body, problem in ((b"", "wrong-size"), (one[:-1], "wrong-size"), (elsewhere, "wrong-plan")):
            assert code(http.post(path, content=body, headers=TYPE)) == problem
        assert code(http.post(path, content=two)) == "unsupported-media-type"
        assert code(http.post("/v1/campaigns/no/reports", content=one, headers=TYPE)) == "no-such-campaign"


def test_a_draft_is_nobodys_business(client: Client) -> None:
    with client as http:
        answer = http.post(
            "/v1/operator/campaigns",
            json={"name": "trips", "plan": SINGLE.document(), "title": "Trips in town"},
            headers=client.token,
        )
        assert answer.status_code == 201
        assert answer.json()["plan"] == SINGLE.id
        paths = ("/v1/campaigns/{}", "/v1/campaigns/{}/plan", "/v1/campaigns/{}/words", "/c/{}")
        for path in paths:
            # A draft is answered word for word like a name that nobody has taken.
            draft, nobody = (http.get(path.format(name)) for name in ("trips", "nobody"))
            assert code(draft) == "no-such-campaign"
            assert draft.text.replace("trips", "nobody") == nobody.text
            assert draft.headers == nobody.headers | {"content-length": draft.headers["content-length"]}
        report = drawn(SINGLE, 1)[0]
        sent = [
            http.post(f"/v1/campaigns/{name}/reports", content=report, headers=TYPE)
            for name in ("trips", "nobody")
        ]
        assert sent[0].status_code == sent[1].status_code == 404
        assert sent[0].text.replace("trips", "nobody") == sent[1].text
        assert http.get("/v1/campaigns").json() == {"campaigns": [], "more": False}


@pytest.mark.parametrize("name", ["%00", "trips%00", "TRIPS", "a" * 65, "%C3%A9", "-trips", "trips%0A"])
def test_what_is_no_name_is_never_queued(client: Client, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Intake, "submit", lambda _, campaign, __: asked.append(campaign))
    monkeypatch.setattr(SqliteSession, "rows", lambda _, sql, *__: asked.append(sql))
    with client as http:
        for method, path in (("POST", "reports"), ("GET", ""), ("GET", "plan"), ("GET", "words")):
            address = f"/v1/campaigns/{name}/{path}".rstrip("/")
            answer = http.request(method, address, content=b"x", headers=TYPE)
            assert (answer.status_code, code(answer)) == (404, "no-such-campaign")
    assert asked == []


def test_admission_codes_of_many_bytes_are_refused(client: Client) -> None:
    opened(client.database, "trips", SINGLE)
    with client as http:
        report = drawn(SINGLE, 1)[0]
        headers = TYPE | {"Ldptrace-Admission": ",".join(["ab" * 16] * 2_000)}
        answer = http.post("/v1/campaigns/trips/reports", content=report, headers=headers)
        assert (answer.status_code, code(answer)) == (431, "head-too-large")


def test_a_shuffler_hands_over_batches(client: Client) -> None:
    once, hourly = (
        opened_shuffled(client.database, telling()),
        opened_shuffled(client.database, standing(), "hourly"),
    )
    with client as http:
        for plan, name, window in ((once, "trips", None), (hourly, "hourly", 2)):
            mine = token(client, name, "shuffle")
            place = "" if window is None else f"/windows/{window}"
            path = f"/v1/campaigns/{name}/plans/{plan.id}{place}/batch"
            body = batch_of(plan, range(BATCH), window)
            small = http.put(path, content=batch_of(plan, range(1), window), headers=BATCH_TYPE | mine)
            assert code(small) == "batch-too-small"
            for _ in range(2):
                answer = http.put(path, content=body, headers=BATCH_TYPE | mine)
                assert answer.json() == {"counted": BATCH, "omitted": 0, "problems": {}}
            assert code(http.put(path, json={"deleted": 2}, headers=mine)) == "another-batch"
        path = f"/v1/campaigns/hourly/plans/{hourly.id}/windows/1/batch"
        assert code(http.put(path, json={"deleted": 2}, headers=mine)) == "wrong-window"
        assert code(http.put(path, content=body, headers=BATCH_TYPE | mine)) == "wrong-window"


def test_the_number_of_a_deleted_batch_is_taken(client: Client) -> None:
    plan = opened_shuffled(client.database, telling())
    mine = token(client, "trips", "shuffle")
    path = f"/v1/campaigns/trips/plans/{plan.id}/batch"
    with client as http:
        for wrong in ({}, {"deleted": -1}, {"deleted": True}, {"deleted": 2, "more": 1}, {"deleted": 10**9}):
            assert code(http.put(path, json=wrong, headers=mine)) == "bad-request"
        assert http.put(path, json={"deleted": 2}, headers=mine).json() == {"deleted": 2}
        shown = http.get("/v1/operator/campaigns/trips", headers=client.token).json()
    assert [one["deleted"] for one in shown["batches"]] == [True]
    assert shown["shuffled"]["operator"] == "A club"


def test_only_a_shuffler_of_the_campaign_hands_over(client: Client) -> None:
    plan = opened_shuffled(client.database, telling())
    opened_shuffled(client.database, telling(), "other")
    path, body = f"/v1/campaigns/trips/plans/{plan.id}/batch", batch_of(plan, range(BATCH))
    with client as http:
        assert code(http.put(path, content=body, headers=BATCH_TYPE)) == "unauthorized"
        for headers in (client.token, token(client, "other", "shuffle"), token(client, "trips", "manage")):
            assert code(http.put(path, content=body, headers=BATCH_TYPE | headers)) == "forbidden"
        mine = token(client, "trips", "shuffle")
        assert (
            code(http.put(path, content=body, headers=mine | {"Content-Type": "a/b"}))
            == "unsupported-media-type"
        )
        for path in (
            "/v1/operator/campaigns",
            "/v1/operator/campaigns/trips",
            "/v1/operator/audit",
            "/metrics",
        ):
            assert code(http.get(path, headers=mine)) == "forbidden"
        assert code(http.post("/v1/operator/campaigns/trips/close", headers=mine)) == "forbidden"
    with pytest.raises(InputError, match="for one campaign"):
        create_token(client.database, "*", "shuffle", "", actor="test")


def test_a_direct_report_is_refused(client: Client) -> None:
    plan = opened_shuffled(client.database, telling())
    with client as http:
        answer = http.post(
            "/v1/campaigns/trips/reports",
            content=batch_of(plan, [1]),
            headers=TYPE,
        )
        assert code(answer) == "not-shuffled"
        assert http.get("/v1/campaigns/trips").json()["shuffled"]["batch"] == BATCH
