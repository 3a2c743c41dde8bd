"""What a browser gets for the address of a page. The pages themselves are tried in `assets`, in a browser."""

from __future__ import annotations

import base64
import hashlib

from ldptrace.curator.facts import Facts
from ldptrace.server.pages import policy
from server_kit import SINGLE, Client, opened

STANDING = Facts(1000, "1", (0.0, 0.0, 6.0, 6.0), grid=4, every=7 * 86_400).plan()
RELEASED = b"<head><style>h1 { color: red }</style></head><h1>made</h1>"


def test_the_first_address_is_the_operators_page(client: Client) -> None:
    with client as http:
        answer = http.get("/", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, "/operate")
        assert "<!doctype html>" in http.get("/operate").text.lower()


def test_each_file_of_a_page_has_its_type(client: Client) -> None:
    with client as http:
        for name, kind in {"style.css": "text/css", "client/index.js": "text/javascript"}.items():
            answer = http.get(f"/assets/{name}")
            assert answer.headers["content-type"].startswith(kind)
            assert answer.headers["cache-control"] == "no-cache"
        assert http.get("/assets/none.js").status_code == 404


def test_only_what_was_published_has_a_page(client: Client) -> None:
    opened(client.database, "weekly", STANDING)
    with client.database.writing() as session:
        session.run("INSERT INTO files VALUES ('weekly', '1/index.html', 0, ?)", RELEASED)
    with client as http:
        assert http.get("/c/weekly").status_code == http.get("/c/weekly/release").status_code == 200
        for missing in ("weekly/release/1", "weekly/release/9", "none/release/1", "none/release", "none"):
            assert http.get(f"/c/{missing}").status_code == 404
            assert http.get(f"/c/{missing}/profile.html").status_code == 404
        assert http.get("/c/weekly/release/profile.html").status_code == 404


def test_a_release_that_is_made_but_not_published_is_not_shown(client: Client) -> None:
    """The operator looks at it first; nobody else sees the page or a file."""
    opened(client.database, "trips", SINGLE)
    files = ("/index.html", "/profile.html", "/README.md")
    with client.database.writing() as session:
        for file in files:
            session.run("INSERT INTO files VALUES ('trips', ?, 0, ?)", file.removeprefix("/"), RELEASED)
    addresses = ("", "/profile.html", "/README.md")
    with client as http:
        for place in addresses:
            assert http.get(f"/c/trips/release{place}").status_code == 404
        with client.database.writing() as session:
            session.run("UPDATE campaigns SET state = 'published' WHERE name = 'trips'")
        for place in addresses:
            assert http.get(f"/c/trips/release{place}").status_code == 200


def test_the_policy_names_the_style_that_is_in_the_page() -> None:
    digest = base64.b64encode(hashlib.sha256(b"h1 { color: red }").digest()).decode()
    assert f"style-src 'sha256-{digest}';" in policy(RELEASED)
