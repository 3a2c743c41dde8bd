"""The scheduled work of the server: open and close campaigns, close windows, begin releases."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from ldptrace.errors import InputError
from ldptrace.server import campaigns, standing
from ldptrace.server.registry import Campaign, all_campaigns, moment
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


@dataclass(frozen=True)
class TrialClock:
    """A clock for trials, which shows the Unix time `start` when the system clock shows `since`, and runs `rate` times
    as fast.

    >>> clock = TrialClock(1_000_000.0, 3600.0, since=0.0)
    >>> clock.at(1.0)
    1003600.0
    """

    start: float
    rate: float
    since: float

    def __call__(self) -> float:
        return self.at(time.time())

    def at(self, real: float) -> float:
        """Return the time of this clock at a time of the system clock."""
        return self.start + (real - self.since) * self.rate

    @staticmethod
    def of(text: str) -> TrialClock:
        """Parse the option START,RATE or START,RATE,SINCE; by default SINCE is the present.

        >>> TrialClock.of("2027-03-01,3600,5")
        TrialClock(start=1803859200, rate=3600.0, since=5.0)
        """
        parts = text.split(",")
        try:
            if len(parts) not in (2, 3):
                raise ValueError
            start, rate = moment(parts[0]), float(parts[1])
            since = float(parts[2]) if len(parts) == 3 else time.time()
        except ValueError:
            raise InputError(f"a trial clock is START,RATE or START,RATE,SINCE, got {text!r}") from None
        if not 0 < rate <= 1e7:
            raise InputError(f"a trial clock runs up to 10,000,000 times as fast, got {parts[1]}")
        return TrialClock(start, rate, since)
