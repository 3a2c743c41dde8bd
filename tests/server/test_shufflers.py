"""Batches over HTTP: only with the token of a shuffler of this campaign, which is good for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.server.tokens import create_token
from server_kit import Client, code
from shuffler_kit import BATCH, HOUR, NOW, batch_of, opened_shuffled, standing, telling

TYPE = {"Content-Type": "application/vnd.ldptrace.batch"}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path, clock=lambda: NOW + 4.5 * HOUR)


def token(client: Client, campaign: str, scope: str) -> dict[str, str]:
    text, _ = create_token(client.database, campaign, scope, "", actor="test")
    return {"Authorization": f"Bearer {text}"}


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
            small = http.put(path, content=batch_of(plan, range(1), window), headers=TYPE | mine)
            assert code(small) == "batch-too-small"
            for _ in range(2):
                answer = http.put(path, content=body, headers=TYPE | mine)
                assert answer.json() == {"counted": BATCH, "omitted": 0, "problems": {}}
            assert code(http.put(path, json={"deleted": 2}, headers=mine)) == "another-batch"
        path = f"/v1/campaigns/hourly/plans/{hourly.id}/windows/1/batch"
        assert code(http.put(path, json={"deleted": 2}, headers=mine)) == "wrong-window"
        assert code(http.put(path, content=body, headers=TYPE | mine)) == "wrong-window"


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
        assert code(http.put(path, content=body, headers=TYPE)) == "unauthorized"
        for headers in (client.token, token(client, "other", "shuffle"), token(client, "trips", "manage")):
            assert code(http.put(path, content=body, headers=TYPE | headers)) == "forbidden"
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
            headers={"Content-Type": "application/vnd.ldptrace.reports"},
        )
        assert code(answer) == "not-shuffled"
        assert http.get("/v1/campaigns/trips").json()["shuffled"]["batch"] == BATCH
