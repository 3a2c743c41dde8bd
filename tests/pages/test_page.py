"""The page: self-contained, and good to look at in a real browser at three widths, light and dark."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.verdict import judged, on_common_scale, verdict
from ldptrace.pages import attack_page, page
from ldptrace.roads.network import RoadNetwork
from tick_kit import ticking

SQUARE = (0.0, 0.0, 10.0, 10.0)
# A name that would do harm if it were not escaped, and is long besides.
NAME = "<script>alert('x')</script> a rather long name of a synthetic set & more_without_any_space_in_it"
PRIVACY = {
    "epsilon": "1.5",
    "method": "made-up",
    "summary": "a method for tests",
    "report": "one message of 9 bytes",
    "sample_seed": 7,
    "experiment": "the devices were seeded",
    "explanation": [
        "Each device draws a question:",
        "  start: the first cell",
        "  end: the last cell",
        "Done.",
    ],
}


def streets() -> RoadNetwork:
    """A chessboard of streets over the square."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(11.0), np.arange(11.0), indexing="ij"))
    number = np.arange(121).reshape(11, 11)
    a = np.concatenate((number[:-1].ravel(), number[:, :-1].ravel()))
    b = np.concatenate((number[1:].ravel(), number[:, 1:].ravel()))
    return RoadNetwork.of(x, y, np.concatenate((a, b)), np.concatenate((b, a)), name="chessboard")


def timed(trips: Trajectories) -> Trajectories:
    """One trip after the other through a day, a minute from point to point."""
    step = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    leave = np.repeat(np.linspace(0, 86_000, len(trips)), trips.sizes)
    return replace(trips, t=leave + 60.0 * step)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    card = evaluate(
        timed(drifting_walks(200, 1)),
        timed(drifting_walks(200, 2)),
        timed(drifting_walks(200, 3, pull=0.6)),
        bounds=SQUARE,
        seed=1,
        names=[NAME, "plain"],
        privacy=[PRIVACY, None],
        roads=streets(),
    )
    plain: dict[str, Any] = card.document()
    return plain


@pytest.fixture(scope="module")
def html(document: dict[str, Any]) -> str:
    return page(judged(document))


class Balance(HTMLParser):
    """Every element that is opened is closed, in order."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href", "data"}]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.slow
def test_the_page_is_complete_in_itself(html: str) -> None:
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    assert {link for link in parser.links if not link.startswith("#")} == {"data:,"}
    assert html.count('id="streets"') == 1
    assert "<script" not in html
    assert "@import" not in html
    assert not re.search(r"url\(|https?:", html)
    assert "&lt;script&gt;" in html


def test_every_part_is_there(html: str) -> None:
    for heading in (
        "Utility: the nine metrics of the paper",
        "More trips on the map",
        "Metrics on streets",
        "When trips happen",
        "Where people are",
        "How they move",
        "From where to where",
        "How far they go",
        "Frequent routes",
        "Queries and attacks",
        "Privacy",
        "Corrected variants",
        "How it was measured",
    ):
        assert f"<h2>{heading}</h2>" in html
    # Real, two sets and two differences of densities, flows and trips; a map of the zones; patterns. Trips of the
    # real set, of two sets, of the map alone, and of plain routing for either.
    assert html.count('<svg class="map"') == 5 + 5 + 1
    assert html.count('<svg class="matrix"') == 5
    assert html.count('<svg class="map trips"') == 1 + 2 + 1 + 2
    assert html.count('<svg class="chart"') == 3 + 3 + 3
    assert html.count('<svg class="pattern"') == 12
    assert html.count("★") >= 9


def test_the_page_opens_with_verdict_maps_uses_and_promise(html: str) -> None:
    opening = html[: html.index("<details>")]
    assert "metrics are nearly perfect" in opening
    assert "Not covered by ε. It was computed from the real trips and draws 200 of them" in opening
    assert "Nothing is promised about it" in opening
    assert "The map alone, without any report" in opening
    # Real, and the two sets; what they may be used for, and what the words mean where they stand.
    assert opening.count('<svg class="map trips"') == 3
    for use in ("Where people are", "From where to where", "Single streets", "When trips happen"):
        assert use in opening
    assert "<b>Perfect</b>: a fresh sample of the real trips" in opening
    assert "<dt>routed</dt>" in html
    # Every number says which way is better, and what is cited is explained.
    assert html.count("is better</span>") >= 9 + 10
    assert "smaller is better, in map units</span>" in html
    assert "section 6.2 of the paper (Du et al." in html
    assert "Streets are those of chessboard;" in html


def test_geographic_maps_carry_scale_and_north() -> None:
    real = replace(drifting_walks(40, 1), crs="EPSG:4326")
    html = evaluate(real, real, bounds=SQUARE, repeat=1, seed=1, attacks=False).to_html()
    assert html.count('class="north"') == html.count('class="ruler"') > 5
    assert "200 km" in html
    assert "smaller is better, in metres</span>" in html
    planar = evaluate(
        drifting_walks(40, 1), drifting_walks(40, 2), bounds=SQUARE, repeat=1, seed=1, attacks=False
    )
    assert 'class="north"' not in planar.to_html()


@pytest.mark.slow
def test_differences_are_on_the_scale_of_the_real_map() -> None:
    real = drifting_walks(400, 1)
    good, bad = (
        evaluate(real, other, bounds=SQUARE, repeat=1, seed=1, attacks=False).document()
        for other in (drifting_walks(400, 2), drifting_walks(400, 3, pull=0.9))
    )
    for document in (good, bad):
        top = f"{100 * max(document['real']['density']):+.2g} %"
        assert top in page(judged(document))


def test_the_verdict_names_what_is_weak() -> None:
    real = drifting_walks(400, 1)
    card = evaluate(real, real, drifting_walks(400, 3, pull=0.9), seed=1, repeat=1, names=["same", "other"])
    same, other = (verdict(item) for item in card.document()["sets"])
    assert same.startswith("same is very close to the real set: 9 of 9 metrics")
    assert "the weakest is" in other
    assert "very close" not in other


def test_an_answer_that_is_not_yes_has_its_weakest_metric_below() -> None:
    """Also where no pointer shows it; of several sets, the pointer shows it alone."""
    real, others = drifting_walks(400, 1), [drifting_walks(400, seed, pull=0.9) for seed in (3, 4)]
    one = page(judged(evaluate(real, others[0], seed=1, repeat=1, attacks=False).document()))
    two = page(judged(evaluate(real, *others, seed=1, repeat=1, attacks=False, names=["a", "b"]).document()))
    assert re.search(r'<small class="weak">weakest: [^<]+, (\d+ %|no better than random)</small>', one)
    assert 'class="weak"' not in two


def test_the_page_of_the_attacks_alone(document: dict[str, Any]) -> None:
    html = attack_page(document)
    parser = Balance()
    parser.feed(html)
    assert parser.open == []
    assert parser.links == ["data:,"]
    assert html.count('<svg class="chart"') == 2
    assert html.count("larger is better") == 2
    assert "not covered by ε" in html


def test_the_privacy_panel_says_what_was_promised(html: str) -> None:
    assert html.count("ε = 1.5 for each user.") == 2
    assert "<dt>Method</dt><dd>made-up</dd>" in html
    assert "at most 4.5 times as likely" in html
    assert "<p>Each device draws a question:</p>" in html
    assert "<li>start: the first cell</li>" in html
    assert "one message of 9 bytes" in html
    assert "This set came without a privacy statement." in html


def test_a_leak_is_a_warning() -> None:
    real = drifting_walks(40, 1)
    card = evaluate(
        real, real, bounds=SQUARE, repeat=1, seed=1, privacy=[{"epsilon": "1", "leaks": "its length shows"}]
    )
    assert "This is not ε-LDP for the whole trajectory: its length shows." in card.to_html()


def test_sets_of_unequal_size_are_on_a_common_scale() -> None:
    """Half a copy of the real set, and other trips as many as the real ones: by counts the copy would be the worse."""
    real = drifting_walks(400, 1)
    half, other = real[:200], drifting_walks(400, 3, pull=0.3)
    card = evaluate(
        real, half, other, bounds=SQUARE, repeat=1, seed=1, attacks=False, names=["half", "other"]
    )
    document = card.document()
    counted = [item["metrics"]["query_error"]["value"] for item in document["sets"]]
    assert counted[0] > counted[1]
    assert card.best("query_error") == {0}
    scaled = on_common_scale(document)["sets"][0]["metrics"]["query_error"]
    assert scaled["value"] < scaled["counted"] == counted[0]
    html = page(judged(document))
    assert f"as counted {counted[0]:.4f}" in html
    assert "counts are compared as shares" in html
    assert on_common_scale(document | {"sets": document["sets"][1:]}) == document | {
        "sets": document["sets"][1:]
    }


@pytest.mark.slow
def test_streams_have_a_fold_of_their_own() -> None:
    real, other = ticking(60, 1), ticking(60, 2)
    html = evaluate(
        real, other, bounds=(0, 0, 8, 8), grid=4, repeat=1, seed=1, attacks=False, tick=10.0, from_tick=4
    ).to_html()
    assert "<h2>Tick by tick</h2>" in html
    assert "one position per trip and tick of 10 s" in html
    assert "from tick 4 on" in html
    fold = html[html.index("<h2>Tick by tick</h2>") :]
    assert fold[: fold.index("</details>")].count('<svg class="chart"') == 5
    assert fold[: fold.index("</details>")].count('<svg class="map"') == 2 * 4
    assert "<dt>shuffled</dt>" in fold


def test_real_trajectories_can_be_left_out() -> None:
    real = drifting_walks(40, 1)
    html = evaluate(real, real, bounds=SQUARE, repeat=1, seed=1, attacks=False, samples=False).to_html()
    assert html.count('<svg class="map trips"') == 1
    assert html[: html.index("<details>")].count('<svg class="map"') == 2
    assert "Real trajectories are not shown" in html
    assert "The attacks were not run" in html


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_the_page_in_a_browser(browser: Any, html: str, tmp_path: Path, width: int, scheme: str) -> None:
    file = tmp_path / "card.html"
    file.write_text(html, encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(file.as_uri())
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # Nothing is drawn without a size, and no figure sticks out of the page.
    before = tab.evaluate("document.querySelector('details').getBoundingClientRect().top")
    assert before < (3 * 844 if width < 500 else 4000)
    tab.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    sizes = tab.evaluate(
        "[...document.querySelectorAll('figure svg')].map(svg => svg.getBoundingClientRect())"
        ".map(box => [box.width, box.height, box.right])"
    )
    assert len(sizes) > 30
    for wide, high, right in sizes:
        assert wide > 40
        assert high > 5
        assert right <= width
    # Dark means dark, and text stands out in both.
    ground, ink = (
        sum(map(int, re.findall(r"\d+", tab.evaluate(f"getComputedStyle(document.body).{name}"))[:3]))
        for name in ("backgroundColor", "color")
    )
    assert abs(ground - ink) > 400
    assert (ground < ink) == (scheme == "dark")
    context.close()
