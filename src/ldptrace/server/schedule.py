"""The scheduled work of the server: open and close campaigns, close windows, begin releases."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from ldptrace.server import campaigns, standing
from ldptrace.server.registry import Campaign, all_campaigns
from ldptrace.server.storage import Database
from ldptrace.web.problems import Refused

ACTOR = "schedule"


@dataclass(frozen=True)
class DueRelease:
    """A release that can be made: of one window of a campaign, or of all its rounds."""

    campaign: str
    # Of the window's round, from 0; None for all rounds together.
    number: int | None
    # Trips that were asked for; 0 for as many as the reports show.
    count: int = 0


def tick(database: Database, now: float) -> list[DueRelease]:
    """Do the work that is due at the Unix time `now`, and return the releases that are due. Several processes may call
    this at the same time."""
    with database.reading() as session:
        known = all_campaigns(session)
    for campaign in known:
        # Another process may have been quicker.
        with contextlib.suppress(Refused):
            _advance(database, campaign, now)
    return due_releases(database)


def _advance(database: Database, campaign: Campaign, now: float) -> None:
    opens, until = campaign.schedule.opens, campaign.schedule.until
    if campaign.state == "draft" and opens is not None and opens <= now and (until is None or now < until):
        campaigns.open_round(database, campaign.name, actor=ACTOR)
    elif campaign.state == "open" and campaign.plan.standing is None:
        if until is not None and until <= now:
            campaigns.close_round(database, campaign.name, actor=ACTOR)
    elif campaign.state == "open":
        standing.close_windows(database, campaign.name, now)
        if until is not None and until <= now:
            _run_out(database, campaign, now)


def _run_out(database: Database, campaign: Campaign, now: float) -> None:
    """Begin no window after the end of a campaign, and close the campaign after its last window."""
    name = campaign.name
    with database.writing() as session:
        session.run(
            "UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", campaign.schedule.until, name
        )
    if standing.is_over(database, name, now):
        with database.writing() as session:
            session.run("UPDATE campaigns SET state = 'closed' WHERE name = ?", name)


def due_releases(database: Database) -> list[DueRelease]:
    """Return releases that were not begun or that failed, for closed windows and for campaigns that closed on
    schedule."""
    with database.reading() as session:
        windows = session.rows(
            "SELECT rounds.campaign, rounds.number FROM rounds JOIN campaigns ON campaigns.name = rounds.campaign "
            "LEFT JOIN releases ON releases.campaign = rounds.campaign AND releases.number = rounds.number "
            "WHERE rounds.state = 'closed' AND time_window IS NOT NULL AND counted >= min_reports "
            "AND (releases.state IS NULL OR releases.state = 'failed') ORDER BY rounds.campaign, rounds.number"
        )
        scheduled = session.rows(
            "SELECT name FROM campaigns LEFT JOIN releases ON releases.campaign = name AND releases.number = -1 "
            "WHERE campaigns.state = 'closed' AND until IS NOT NULL "
            "AND (releases.state IS NULL OR releases.state = 'failed') ORDER BY name"
        )
        known = {one.name: one for one in all_campaigns(session)}
        once = [known[name] for (name,) in scheduled if known[name].plan.standing is None]
        whole = [campaign.name for campaign in once if campaign.round >= campaign.rounds]
    return [DueRelease(*row) for row in windows] + [DueRelease(name, None) for name in whole]
