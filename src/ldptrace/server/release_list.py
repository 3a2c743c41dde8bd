"""The page with the releases of a standing campaign, one line per published window, newest first."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from html import escape

from ldptrace.server.registry import Campaign, day, shown
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
    """Return the released windows of a campaign, newest first."""
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
    """Return the page as HTML."""
    rows = "".join(
        f'<tr><td><a href="/c/{campaign.name}/release/{one.round}">{_time(one)}</a></td>'
        f"<td class=n>{one.reports:,}</td></tr>"
        for one in releases
    )
    table = f"<table><tr><th>answers due</th><th class=n>answers</th></tr>{rows}</table>"
    return page_of(
        campaign,
        "releases",
        f"""<p>Devices answer once in every window of time, each with a randomised report. Each window with enough
answers is published separately: a model, synthetic trips that nobody made, and how well they fit.</p>
{table if releases else "<p>No window has been published yet.</p>"}
<p><a href="/c/{campaign.name}">Take part, or see what is asked</a></p>""",
    )


def page_of(campaign: Campaign, what: str, body: str, *said: str) -> str:
    """Return a page about a campaign: its title, its operator, further sentences, and the body."""
    about, title = campaign.about, escape(campaign.about.title)
    who = [f"Run by {about.organiser}."] if about.organiser else []
    who += [*said, *([f"Questions: {about.contact}"] if about.contact else [])]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {what}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="soft">{escape(" ".join(who))}</p>
{body}
</body>
</html>
"""


def _time(one: Published) -> str:
    written = day if one.end - one.begin >= 86_400 else shown
    return f"{written(one.begin)} to {written(one.end)}"


STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf8; --card: #fff; --ink: #1d2327; --soft: #5b6670; --line: #d9dcdf;
  --street: #c3c9cf; --track: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --card: #1c2226; --ink: #e8ebed; --soft: #a3adb5;
  --line: #384148; --street: #46515a; --track: #fb923c; } }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; }
.soft, figcaption { color: var(--soft); } figcaption { font-size: .88rem; } figure { margin: 1rem 0; }
svg { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--card); }
.street { stroke: var(--street); fill: none; }
.trip { stroke: var(--track); fill: none; stroke-opacity: .25; stroke-width: 1.5; }
a { color: var(--track); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
th { color: var(--soft); } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; } td.sum { font-size: .7rem; color: var(--soft); } td.sum code { white-space: normal; }
code { overflow-wrap: anywhere; } td code { white-space: nowrap; } summary { cursor: pointer; color: var(--track); }
@media (max-width: 32rem) { .files tr:first-child { display: none; } .files tr, .files td { display: block; }
  .files td { border: 0; padding-bottom: 0; text-align: left !important; }
  .files td:last-child { border-bottom: 1px solid var(--line); padding-bottom: .4rem; } }
"""


def policy(page: bytes) -> str:
    """Return the content security policy of a stored page, which allows the style in the page.

    >>> policy(b"<style>p {}</style>").split(";")[0]
    "default-src 'none'"
    """
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    style_policy = f"style-src 'sha256-{digest}'; style-src-attr 'unsafe-inline'"
    return f"default-src 'none'; {style_policy}; base-uri 'self'; frame-ancestors 'none'"
