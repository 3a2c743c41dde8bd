"""The page of a standing campaign's releases: one line for each window that was published, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ldptrace.server.about import day, shown
from ldptrace.server.registry import Campaign
from ldptrace.server.release_style import STYLE
from ldptrace.server.storage import Session
from ldptrace.server.tallies import counts_of


@dataclass(frozen=True)
class Published:
    """The release of one window: the number of its round from 1, the time of the window, and its reports."""

    round: int
    begin: int
    end: int
    reports: int


def published(session: Session, name: str) -> list[Published]:
    """The windows of a campaign that were released, the newest first."""
    done = {
        number
        for (number,) in session.rows(
            "SELECT number FROM releases WHERE campaign = ? AND number >= 0 AND state = 'done'", name
        )
    }
    found = [
        Published(entry.number + 1, entry.begin, entry.begin + entry.plan.standing.every, entry.reports)
        for entry in counts_of(session, name)
        if entry.number in done and entry.plan.standing is not None
    ]
    return sorted(found, key=lambda one: (one.begin, one.round), reverse=True)


def list_page(campaign: Campaign, releases: list[Published]) -> str:
    """The page as text."""
    about, title = campaign.about, escape(campaign.about.title)
    who = [f"Run by {about.organiser}."] if about.organiser else []
    who += [f"Questions: {about.contact}"] if about.contact else []
    rows = "".join(
        f'<tr><td><a href="/c/{campaign.name}/release/{one.round}">{_time(one)}</a></td>'
        f"<td class=n>{one.reports:,}</td></tr>"
        for one in releases
    )
    table = f"<table><tr><th>answers due</th><th class=n>answers</th></tr>{rows}</table>"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · releases</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="soft">{escape(" ".join(who))}</p>
<p>Devices answer once in every window of time, each with a randomised report. Each window with enough answers is
published by itself: a model, synthetic trips that nobody made, and how well they fit.</p>
{table if releases else "<p>No window has been published yet.</p>"}
<p><a href="/c/{campaign.name}">Take part, or see what is asked</a></p>
</body>
</html>
"""


def _time(one: Published) -> str:
    written = day if one.end - one.begin >= 86_400 else shown
    return f"{written(one.begin)} to {written(one.end)}"
