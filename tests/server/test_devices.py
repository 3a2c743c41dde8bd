"""What devices ask for: the plan, and to count reports; a draft is nobody's business."""

from __future__ import annotations

from ldptrace.protocol.plan import Plan
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
        for path in ("/v1/campaigns/trips", "/v1/campaigns/trips/plan", "/c/trips"):
            assert code(http.get(path)) == "no-such-campaign"
        assert http.get("/v1/campaigns").json() == {"campaigns": []}
