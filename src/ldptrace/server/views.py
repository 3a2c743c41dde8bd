"""The views of a campaign for the public, devices and operators. With too few reports, less is shown."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

import numpy as np

from ldptrace.curator import Estimate, Estimates
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.lattice import moves
from ldptrace.server.counting import batches_of
from ldptrace.server.registry import Campaign
from ldptrace.server.releases import folder_of
from ldptrace.server.rounds import estimates_of, rejections_of, rounds_of, tallies_of
from ldptrace.server.storage import Session, stored
from ldptrace.server.terms import Terms

# Flows that are sent for the map: those that stand out most.
FLOWS = 600
# Numbers of reports for which errors are predicted, as multiples of the expected number.
OUTLOOK = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


# At least 0.
Count = Annotated[int, 0]
State = Literal["draft", "open", "closed", "published"]


class PublicCampaign(TypedDict):
    """A campaign as everybody sees it."""

    name: str
    title: Annotated[str, Terms]
    organiser: Annotated[str, Terms]
    contact: Annotated[str, Terms]
    notice: Annotated[str, Terms]
    opens: Annotated[int | None, Terms]
    until: Annotated[int | None, Terms]
    state: State
    round: Count
    rounds: Count
    plan: Annotated[str | None, "The id of the newest plan; null while the campaign is a draft."]
    epsilon: Annotated[str, "A decimal number."]
    admission: Annotated[bool, "Whether devices need admission codes."]
    standing: Annotated[dict[str, Any] | None, "The time windows of a standing plan."]
    shuffled: Annotated[
        dict[str, Any] | None, "Of a shuffled plan: the shuffler, the least batch and the central promise."
    ]


class RoundReports(TypedDict):
    """The reports of one round, or of one time window."""

    round: int
    state: str
    reports: Count
    plan: str
    window: int | None
    begin: Annotated[int | None, "Unix time at which the time window begins."]


class Predicted(TypedDict):
    """The predicted standard error of each question at a number of reports."""

    reports: int
    standard_errors: dict[str, float]


class Progress(TypedDict):
    """The progress of a release; `round` is that of the time window."""

    round: NotRequired[int]
    state: str
    stage: str
    percent: int
    error: str


class File(TypedDict):
    """A file that can be downloaded."""

    name: str
    bytes: Count


class Batch(TypedDict):
    """A batch of a shuffled campaign."""

    plan: str
    window: int | None
    reports: Count
    deleted: Annotated[bool, "Whether the shuffler deleted the batch, for example because it was too small."]
    counted: NotRequired[Count]
    omitted: NotRequired[Count]
    honest: NotRequired[Annotated[Count, "The counted reports that are taken to come from honest devices."]]
    epsilon: NotRequired[
        Annotated[float, "The central epsilon that the counted reports of this batch achieve."]
    ]


class Overview(PublicCampaign):
    """A campaign as operators see it: counts, rejections and predicted errors."""

    method: str
    reports: Annotated[Count, "Number of reports that were counted, in all rounds."]
    rejected: Annotated[dict[str, int], "Number of reports that were not counted, by problem code."]
    batches: Annotated[list[Batch], "The batches of a shuffled campaign."]
    min_reports: Annotated[int, Terms]
    max_reports: Annotated[int, Terms]
    expected: Annotated[Count, "Expected number of users, or of reports."]
    enough: Annotated[bool, "Whether some round has the smallest number of reports."]
    round_reports: list[RoundReports]
    predicted: list[Predicted]
    release: Progress | None
    releases: Annotated[list[Progress], "The releases of time windows, oldest first."]
    files: list[File]


class Series(TypedDict):
    """Estimates with their standard errors."""

    question: NotRequired[str]
    users: Count
    values: list[float]
    std_errors: list[float]


Flow = TypedDict("Flow", {"from": int, "to": int, "value": float, "std_error": float})


class Estimated(TypedDict):
    """Density, flows and lengths with standard errors."""

    name: str
    grid: dict[str, Any]
    density: Annotated[Series | None, "How often each cell is visited, or where trips begin."]
    flows: Annotated[list[Flow], "The moves between neighbouring cells that stand out most."]
    lengths: Series | None
    questions: dict[str, Any]


def public(campaign: Campaign) -> PublicCampaign:
    """Return the public facts of a campaign."""
    plan = campaign.plan
    shown = {
        "name": campaign.name,
        **{key: told for key, told in vars(campaign.terms).items() if key in PublicCampaign.__annotations__},
        "state": campaign.state,
        "round": campaign.round,
        "rounds": campaign.rounds,
        "plan": plan.id if campaign.state != "draft" else None,
        "epsilon": decimal_text(plan.epsilon),
        "admission": campaign.admission,
        "standing": None if plan.standing is None else plan.standing.document(),
        "shuffled": None if plan.shuffled is None else plan.shuffled.document(),
    }
    return cast(PublicCampaign, shown)


def overview(session: Session, campaign: Campaign) -> Overview:
    """Return the counts and predicted errors, which operators can always see."""
    # Statistics take a second to load, which a server that only counts need not spend.
    from ldptrace.curator.planning import standard_errors

    rounds, releases = rounds_of(session, campaign.name), releases_of(session, campaign.name)
    reports = sum(entry.reports for entry in rounds)
    newest = rounds[-1].reports if rounds else 0
    expected = campaign.terms.users or max(newest, campaign.terms.min_reports)
    enough = bool(rounds) and any(entry.reports >= campaign.terms.min_reports for entry in rounds)
    return {
        **public(campaign),
        "plan": campaign.plan.id,
        "method": campaign.plan.method,
        "reports": reports,
        "rejected": rejections_of(session, campaign.name),
        "batches": cast(list[Batch], batches_of(session, campaign.name)),
        "min_reports": campaign.terms.min_reports,
        "max_reports": campaign.terms.max_reports,
        "expected": expected,
        "enough": enough,
        "round_reports": [
            {
                "round": entry.number + 1,
                "state": entry.state,
                "reports": entry.reports,
                "plan": entry.plan.id,
                "window": entry.window,
                "begin": None if entry.window is None else entry.begin,
            }
            for entry in rounds
        ],
        "predicted": [
            {"reports": count, "standard_errors": standard_errors(campaign.plan, count)}
            for count in sorted({max(1, round(expected * part)) for part in OUTLOOK} | {max(1, newest)})
        ],
        "release": releases.pop(stored(None), None),
        "releases": [{"round": number + 1, **one} for number, one in releases.items()],
        "files": files_of(session, campaign.name),
    }


def estimated(session: Session, campaign: Campaign) -> Estimated:
    """Return the map and the lengths with their standard errors, or raise an error if there are too few reports."""
    tallies = tallies_of(session, campaign)
    if campaign.plan.standing is None:
        estimates = estimates_of(tallies)
    else:
        # Models take a second to load, which a server that only counts need not spend.
        from ldptrace.server.series import recollection

        estimates = recollection(campaign.plan.campaign).windows(tallies)[-1].now
    return {
        "name": campaign.name,
        "grid": {
            "n": campaign.plan.grid.n,
            "bounds": list(campaign.plan.grid.bounds),
            "crs": campaign.plan.crs,
        },
        "density": _density(estimates),
        "flows": _flows(estimates),
        "lengths": _series(estimates.get("length")),
        "questions": {
            name: {"users": estimate.users, "standard_error": _rounded(float(np.median(estimate.std_errors)))}
            for name, estimate in estimates.items()
            if estimate.users
        },
    }


def releases_of(session: Session, name: str) -> dict[int, Progress]:
    """Return the progress of releases by the stored number of their round, oldest first."""
    rows = session.rows(
        "SELECT number, state, stage, done, error FROM releases WHERE campaign = ? ORDER BY number", name
    )
    return {
        number: {"state": state, "stage": stage, "percent": percent, "error": error}
        for number, state, stage, percent, error in rows
    }


def files_of(session: Session, name: str, number: int | None = None) -> list[File]:
    """Return the files of a campaign, or of the release of one window, that can be downloaded."""
    folder = folder_of(number)
    rows = session.rows(
        "SELECT name, sum(length(data)) FROM files WHERE campaign = ? AND name LIKE ? GROUP BY name ORDER BY name",
        name,
        f"{folder}%",
    )
    files = ((file.removeprefix(folder), size) for file, size in rows)
    return [{"name": file, "bytes": int(size)} for file, size in files if "/" not in file]


def _density(estimates: Estimates) -> Series | None:
    """Return how often each cell is visited, or for plans of the paper, where trips begin."""
    for question in ("visits", "start", "terminals"):
        if question in estimates and estimates[question].users:
            series = _series(estimates[question])
            return None if series is None else {"question": question, **series}
    return None


def _flows(estimates: Estimates) -> list[Flow]:
    """Return the moves between neighbouring cells that are largest compared with their noise."""
    estimate = next((estimates[name] for name in ("links", "moves", "steps") if name in estimates), None)
    if estimate is None or not estimate.users:
        return []
    n = estimate.question.n
    both = estimate.question.name == "links"
    pairs = [(here, there) for here, _, there in moves(n) if not both or here < there]
    clear = np.argsort(-estimate.frequencies / estimate.std_errors)[:FLOWS]
    return [
        {
            "from": pairs[item][0],
            "to": pairs[item][1],
            "value": _rounded(float(estimate.frequencies[item])),
            "std_error": _rounded(float(estimate.std_errors[item])),
        }
        for item in clear.tolist()
        if estimate.frequencies[item] > 0
    ]


def _series(estimate: Estimate | None) -> Series | None:
    if estimate is None or not estimate.users:
        return None
    return {
        "users": estimate.users,
        "values": [_rounded(value) for value in estimate.frequencies.tolist()],
        "std_errors": [_rounded(value) for value in estimate.std_errors.tolist()],
    }


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")
