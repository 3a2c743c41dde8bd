"""Bodies within their limits, problems as documents, headers on every answer."""

from __future__ import annotations

from pathlib import Path

from ldptrace.web.limits import Arriving
from server_kit import SINGLE, TYPE, Client, code, drawn, opened


def test_limits(tmp_path: Path) -> None:
    client = Client(tmp_path, max_body=1_000, rate=0.001, burst=6)
    opened(client.database, "trips", SINGLE)
    path = "/v1/campaigns/trips/reports"
    with client as http:
        large = http.post(path, content=bytes(1_001), headers=TYPE)
        assert (large.status_code, code(large)) == (413, "body-too-large")
        streamed = http.post(path, content=iter([bytes(600), bytes(600)]), headers=TYPE)
        assert code(streamed) == "body-too-large"
        for _ in range(4):
            assert http.get("/healthz").status_code == 200
        refused = http.get("/healthz")
        assert (refused.status_code, code(refused)) == (429, "rate-limited")
        assert refused.headers["retry-after"]


def test_half_a_surrogate_pair_is_quoted(tmp_path: Path) -> None:
    client = Client(tmp_path)
    body = b'{"name": "\\ud800", "epsilon": 1, "bounds": [0, 0, 6, 6], "users": 9}'
    with client as http:
        answer = http.post(
            "/v1/operator/campaigns",
            content=body,
            headers=client.token | {"Content-Type": "application/json"},
        )
    assert answer.status_code == 400
    assert "ud800" in answer.json()["detail"]


def test_headers(tmp_path: Path) -> None:
    client = Client(tmp_path)
    with client as http:
        for path in ("/operate", "/healthz", "/nowhere", "/v1/operator/audit", "/assets/style.css"):
            answer = http.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "server" not in answer.headers


def test_bodies_beyond_what_may_arrive_at_once_are_sent_away(tmp_path: Path) -> None:
    client = Client(tmp_path)
    opened(client.database, "trips", SINGLE)
    path = "/v1/campaigns/trips/reports"
    with client as http:
        state = client.shared
        state.arriving = Arriving(1_000, 100)
        # Others have half-sent bodies of as much as there is room for.
        assert state.arriving.grow(0, 1_050)
        busy = http.post(path, content=bytes(300), headers=TYPE)
        assert (busy.status_code, code(busy)) == (503, "busy")
        assert busy.headers["connection"] == "close"
        # A single report always finds room, and what was refused holds none.
        assert http.post(path, content=drawn(SINGLE, 1)[0], headers=TYPE).status_code == 200
        state.arriving.end(1_050)
        assert http.post(path, content=bytes(300), headers=TYPE).status_code == 200
        assert state.arriving.bytes == 0
