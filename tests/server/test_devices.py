"""What devices ask for: the plan, and to count reports; a draft is nobody's business."""

from __future__ import annotations

import pytest

from ldptrace.protocol.plan import Plan
from ldptrace.server.storage.sqlite import SqliteSession
from ldptrace.web.intake import Intake
from server_kit import SINGLE, TYPE, Client, code, drawn, opened


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
