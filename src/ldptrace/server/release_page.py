"""The page of a release: one self-contained file with the promise, the fit, the files and a map of synthetic trips."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ldptrace.server.readme import FILES, PROFILE, SUMS, Files, Stored, batch_lines, window_lines
from ldptrace.server.registry import Campaign, shown
from ldptrace.server.release_list import page_of
from ldptrace.server.streets import STEPS

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories

# Trips that are drawn on the map.
DRAWN = 300
WIDTH = 800
# How the lines of a plan's explanation begin that name it, its rounds and its questions.
NUMBERS = ("Plan ", "Round ", "  ")


def release_page(
    campaign: Campaign, card: dict[str, Any], files: Files, trips: Trajectories, streets: bytes
) -> str:
    """Return the page as HTML. `trips` are some of the synthetic trips, and `streets` is the drawing of the street
    map."""
    # The questions one by one are for those who want to know; what holds for a person is for everybody.
    lines = card["promise"]["explanation"]
    asked = _paragraphs([line for line in lines if line.startswith(NUMBERS)])
    promise = _paragraphs([line for line in lines if not line.startswith(NUMBERS)])
    rows = "".join(_row(name, stored) for name, stored in files.items())
    noticed = "".join(f"<li>{escape(text)}</li>" for text in (*card["warnings"], *card["findings"]))
    until = campaign.schedule.until
    body = f"""{_paragraphs(window_lines(card))}
<p>{card["reports"]:,} devices answered, each with a randomised report. From their counts a model was fitted, and
{card["trips"]:,} synthetic trips were drawn from it. Nobody made any of these trips.</p>
{_paragraphs(card["people"])}
<figure>{_map(campaign, trips, streets)}
<figcaption>{len(trips):,} of the synthetic trips.</figcaption></figure>
{_profile(files)}
<h2>What was promised</h2>
{promise}
{_paragraphs(batch_lines(card))}
<details><summary>What was asked, in numbers</summary>{asked}</details>
<h2>How well the model fits</h2>
{_fit(card)}
{f"<h2>What was noticed</h2><ul>{noticed}</ul>" if noticed else ""}
<h2>Files</h2>
<p>Everybody can download these files; <code>{SUMS}</code> has their checksums.</p>
<div class="scroll"><table class="files"><tr><th>file</th><th>what it is</th><th class=n>size</th>
<th>SHA-256</th></tr>{rows}</table></div>"""
    return page_of(campaign, "release", body, *([f"Open until {shown(until)}."] if until else []))


def _row(name: str, stored: Stored | None) -> str:
    """Return a file that can be downloaded as a row of the table."""
    about = escape(FILES.get(name, "")).replace("`", "")
    size, digits = ("", "") if stored is None else (stored.size, stored.sha256)
    return (
        f'<tr><td><a href="{escape(name)}"><code>{escape(name)}</code></a></td><td>{about}</td>'
        f'<td class=n>{size}</td><td class="sum"><code>{digits}</code></td></tr>'
    )


def _profile(files: Files) -> str:
    if PROFILE not in files:
        return ""
    return f'<p><a href="{PROFILE}">Trips by hour, from where to where, how long and how fast</a></p>'


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _fit(card: dict[str, Any]) -> str:
    if not card["fit"]:
        return "<p>This kind of model was not compared with the answers.</p>"
    alone = {match["question"]: f"{match['chi2']:.2f}" for match in card["map_alone"]}
    heads = ["question", "answers", "model", *(["map alone"] if alone else [])]
    head = "".join(f"<th{' class=n' if place else ''}>{text}</th>" for place, text in enumerate(heads))
    rows = ""
    for match in card["fit"]:
        cells = [f"{match['users']:,}", f"{match['chi2']:.2f}"]
        cells += [alone.get(match["question"], "")] if alone else []
        rows += (
            f"<tr><td>{escape(match['question'])}</td>"
            + "".join(f"<td class=n>{one}</td>" for one in cells)
            + "</tr>"
        )
    notes = " ".join(escape(note) for note in card["notes"])
    return (
        f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'
        f"<p class=soft>Mean squared misfit in standard errors: near 1, all of it is noise. {notes}</p>"
    )


def _map(campaign: Campaign, trips: Trajectories, streets: bytes) -> str:
    """Draw streets and trips within the bounds."""
    x0, y0, x1, y1 = campaign.plan.grid.bounds
    geographic = campaign.plan.crs in ("EPSG:4326", "OGC:CRS84")
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
    label = "Map of synthetic trips"
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _way(x: np.ndarray, y: np.ndarray) -> str:
    """Return a line as an SVG path.

    >>> _way(np.array([0.0, 1.25]), np.array([2.0, 3.0]))
    'M0 2L1.2 3'
    """
    points = (f"{a:.1f} {b:.1f}".replace(".0 ", " ").removesuffix(".0") for a, b in zip(x, y, strict=True))
    return "M" + "L".join(points)
