"""What a release says of itself: the page of a campaign's or a window's release, the list of releases, and the README.

The templates are in `ldptrace.pages`: `release.html`, `releases.html` and `release.md`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ldptrace.core.crs import METRES_PER_DEGREE, is_geographic
from ldptrace.pages import drawings
from ldptrace.pages.page import asset, template
from ldptrace.protocol.units import date_words
from ldptrace.server.registry import Campaign, day
from ldptrace.server.rounds import CountedRound
from ldptrace.server.streets import STEPS

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories

FIT, PROFILE = "fit.json", "profile.html"
SUMS = "SHA256SUMS"
FILES = {
    "README.md": "this text",
    "index.html": "the same as a page, with a map",
    "plan-1.json": "what devices were asked, and with which chances they answered truthfully",
    "plan-2.json": "the same with the second round",
    "tally-1.json": "how often each answer was named",
    "tally-2.json": "the same for the second round",
    "estimates.json": "unbiased shares with their standard errors",
    "series.json": "estimates over time, window by window, and what changed",
    "model.npz": "the mobility model: `ldptrace sample model.npz -o FILE --count N` draws more trips",
    "synthetic.parquet": "synthetic trips, one row for each",
    "synthetic.csv": "the same as text, one row for each point",
    "synthetic.csv.promise.json": "what was promised, for the file of text, which cannot hold it",
    "synthetic.geojson": "the same as lines for a map",
    "travellers.json": "some of the synthetic trips for a live map",
    PROFILE: "a page for the public: when trips begin, where they lead, how long they are",
    "profile.json": "the numbers of that page",
    "registry.yaml": "an entry for the registry of differential-privacy deployments",
    "nist-sp-800-226.md": "how the collection meets each privacy hazard that NIST SP 800-226 lists",
    "croissant.json": "Croissant metadata of the synthetic trips",
    "CITATION.cff": "how to cite the synthetic trips",
    FIT: "the promise, how well the model fits the answers, what was noticed",
    SUMS: "checksums of all other files: `sha256sum -c SHA256SUMS` checks the files beside it",
}


# The files of a release by name: the size in a unit that people read, and the SHA-256; both are empty for those that
# are written after the list.
Files = Mapping[str, tuple[str, str]]
# Trips that are drawn on the map.
DRAWN = 300
WIDTH = 800
# How the lines of a plan's explanation begin that name it, its rounds and its questions.
NUMBERS = ("Plan ", "Round ", "  ")


def readme(campaign: Campaign, card: dict[str, Any], files: Files) -> str:
    """Return the README of a release, in Markdown."""
    return _filled("release.md", campaign, **_told(card, files))


def release_page(
    campaign: Campaign, card: dict[str, Any], files: Files, trips: Trajectories, streets: bytes
) -> str:
    """Return the page of a release: one self-contained file with the promise, the fit, the files and a map. `trips` are
    some of the synthetic trips, and `streets` is the drawing of the street map."""
    # The questions one by one are for those who want to know; what holds for a person is for everybody.
    lines = card["promise"]["explanation"]
    body = _filled(
        "release.html",
        campaign,
        asked=[line for line in lines if line.startswith(NUMBERS)],
        promise=[line for line in lines if not line.startswith(NUMBERS)],
        map=Markup(_map(campaign, trips, streets)),
        drawn=len(trips),
        profile=PROFILE if PROFILE in files else None,
        **_told(card, files),
    )
    return _page(campaign, "release", body)


def list_page(campaign: Campaign, releases: list[CountedRound]) -> str:
    """Return the page with the releases of a standing campaign, one line per published window, newest first."""
    body = _filled(
        "releases.html",
        campaign,
        name=campaign.name,
        releases=[(one, _span(one.begin, one.end)) for one in releases],
    )
    return _page(campaign, "releases", body, until=None)


def _told(card: dict[str, Any], files: Files) -> dict[str, Any]:
    """Return what both the page and the README of a release say."""
    return {
        "card": card,
        "windows": window_lines(card),
        "batches": batch_lines(card),
        "alone": {match["question"]: match["chi2"] for match in card["map_alone"]},
        "files": [(name, FILES.get(name, ""), *stored) for name, stored in files.items()],
    }


def _page(campaign: Campaign, what: str, body: str, **changed: Any) -> str:
    style = Markup(asset("release.css"))
    return _filled("release_base.html", campaign, what=what, body=Markup(body), style=style, **changed)


def _filled(file: str, campaign: Campaign, **values: Any) -> str:
    until = campaign.terms.until
    told = {
        "name": campaign.name,
        "about": campaign.terms,
        "until": None if until is None else date_words(until),
    }
    return str(template(file).render(told | values))


def window_lines(card: dict[str, Any]) -> list[str]:
    """Return the lines about a window: its time, how much of the earlier windows is remembered, and what changed."""
    window = card.get("window")
    if window is None:
        return []
    lines = [f"Answers that were due from {_span(window['from'], window['to'])}."]
    if window["before"]:
        plural = "s" if window["before"] > 1 else ""
        kept = (
            "all count the same"
            if window["half_life"] == "forever"
            else f"the weight of a report halves in {window['half_life']}"
        )
        lines.append(
            f"The model also remembers {window['before']} window{plural} before: {kept}, which is worth "
            f"{window['effective']:,} reports."
        )
    return lines + [f"Change: {text}" for text in window["changes"]]


def batch_lines(card: dict[str, Any]) -> list[str]:
    """Return lines about the batches of a shuffled plan: how many reports hide each other, and what both promises came
    to; none for a plan that devices answer directly."""
    facts = card.get("batches")
    if not facts or not facts["of"]:
        return []
    *before, last = facts["of"]
    lines = [
        f"Achieved: the shuffler handed over a batch of {last['reports']:,} reports (the plan asks for at least "
        f"{facts['least']:,}), of which {last['counted']:,} were counted. An answer in it costs epsilon "
        f"{last['epsilon']:g} with delta {facts['delta']:g}, as long as {100 * facts['honest']:g} % of the counted "
        f"reports come from honest devices; if shuffler and curator work together, epsilon {facts['together']:g}."
    ]
    if before:
        fewest = min(one["counted"] for one in before)
        most = max(one["epsilon"] for one in before)
        batches = "batch before had" if len(before) == 1 else f"{len(before)} batches before had at least"
        lines.append(f"The {batches} {fewest:,} counted reports: epsilon {most:g} or less for an answer.")
    return lines


def _span(begin: int, end: int) -> str:
    written = day if end - begin >= 86_400 else date_words
    return f"{written(begin)} to {written(end)}"


def _map(campaign: Campaign, trips: Trajectories, streets: bytes) -> str:
    """Draw streets and trips within the bounds."""
    x0, y0, x1, y1 = campaign.plan.grid.bounds
    geographic = is_geographic(campaign.plan.crs)
    stretch = max(np.cos(np.radians((y0 + y1) / 2)), 0.01) if geographic else 1.0
    height = float(np.clip(WIDTH * (y1 - y0) / (x1 - x0) / stretch, WIDTH / 4, 2.5 * WIDTH))
    parts = []
    if streets:
        for rank, lines in reversed(list(enumerate(json.loads(streets)["lines"]))):
            ways = (
                np.cumsum(np.array(line).reshape(-1, 2), axis=0) * (WIDTH, height) / STEPS for line in lines
            )
            path = "".join(_way(way[:, 0], height - way[:, 1]) for way in ways)
            parts.append(f'<path class="street" stroke-width="{(3, 2, 1)[rank]}" d="{path}"/>')
    across = (trips.x - x0) / (x1 - x0) * WIDTH
    up = (y1 - trips.y) / (y1 - y0) * height
    for start, end in zip(trips.offsets[:-1], trips.offsets[1:], strict=True):
        parts.append(f'<path class="trip" d="{_way(across[start:end], up[start:end])}"/>')
    if geographic:
        larger = WIDTH / drawings.WIDTH
        ruler = drawings.ruler((x1 - x0) * stretch * METRES_PER_DEGREE, height / larger)
        parts.append(f'<g transform="scale({larger:.4g})">{ruler}</g>')
    label = "Map of synthetic trips"
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _way(x: np.ndarray, y: np.ndarray) -> str:
    """Return a line as an SVG path.

    >>> _way(np.array([0.0, 1.25]), np.array([2.0, 3.0]))
    'M0 2L1.2 3'
    """
    points = (f"{a:.1f} {b:.1f}".replace(".0 ", " ").removesuffix(".0") for a, b in zip(x, y, strict=True))
    return "M" + "L".join(points)
