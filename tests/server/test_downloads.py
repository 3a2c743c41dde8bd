from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ldptrace.server import campaigns, releases, views
from ldptrace.server.counting import Counter, Submission
from server_kit import SINGLE, Client, drawn, opened


@pytest.mark.slow
def test_everybody_can_download_each_file_that_the_page_of_a_release_lists(tmp_path: Path) -> None:
    client = Client(tmp_path, address="https://collect.example/")
    opened(client.database, "trips", SINGLE, min_reports=5)
    Counter(client.database).count("trips", [Submission(report) for report in drawn(SINGLE, 20)])
    campaigns.close(client.database, "trips", actor="test", now=0)
    with client as http:
        assert http.get("/c/trips/release/synthetic.parquet").status_code == 404
        attempt = releases.begin(client.database, "trips", actor="test")
        releases.Attempt(client.database, "trips", attempt).make(10, address=client.shared.settings.address)
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
