"""What a browser gets for the address of a page. The pages themselves are tried in `assets`, in a browser."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.server import campaigns, releases, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.pages import policy
from server_kit import SINGLE, Client, drawn, opened

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


@pytest.mark.slow
def test_everybody_can_download_each_file_that_the_page_of_a_release_lists(tmp_path: Path) -> None:
    client = Client(tmp_path, address="https://collect.example/")
    opened(client.database, "trips", SINGLE, min_reports=5)
    Counter(client.database).count("trips", [Submission(report) for report in drawn(SINGLE, 20)])
    campaigns.close(client.database, "trips", actor="test", now=0)
    with client as http:
        assert http.get("/c/trips/release/synthetic.parquet").status_code == 404
        attempt = releases.begin(client.database, "trips", actor="test", count=10)
        attempt.make(address=client.shared.settings.address)
        page = http.get("/c/trips/release").text
        with client.database.reading() as session:
            files = [file["name"] for file in views.files_of(session, "trips")]
        assert len(files) >= 18
        sums = dict(line.split()[::-1] for line in http.get("/c/trips/release/SHA256SUMS").text.splitlines())
        for file in files:
            assert f'href="{file}"' in page
            answer = http.get(f"/c/trips/release/{file}")
            assert answer.status_code == 200, file
            if file != "profile.html":
                assert answer.headers["content-disposition"] == f'attachment; filename="{file}"'
                assert int(answer.headers["content-length"]) == len(answer.content)
            digits = hashlib.sha256(answer.content).hexdigest()
            assert sums.get(file, digits) == digits, file
            assert file in {"index.html", "SHA256SUMS"} or digits in page
        assert set(files) - set(sums) == {"SHA256SUMS"}
        about = http.get("/c/trips/release/croissant.json").json()
        assert about["url"] == "https://collect.example/c/trips/release"
        assert "https://collect.example/c/trips/release" in http.get("/c/trips/release/CITATION.cff").text
        for hidden in ("roads%2Fedges.csv", "drawn%2Fstreets.json", "1/synthetic.parquet"):
            assert http.get(f"/c/trips/release/{hidden}").status_code == 404
