"""From tallies to the files that are published. Post-processing: it reads nothing but what was counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Tally
from ldptrace.curator.checks import findings
from ldptrace.io import write
from ldptrace.models.base import MobilityModel
from ldptrace.models.markov import MarkovModel
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.server.campaigns import Campaign, estimates_of
from ldptrace.server.releases import Tell

FORMATS = ("parquet", "csv", "geojson")


def write_release(
    campaign: Campaign,
    tallies: list[tuple[Plan, Tally]],
    network: dict[str, bytes],
    count: int,
    out: Path,
    tell: Tell,
) -> None:
    """Estimates, model, synthetic trips in three formats, and a scorecard of the fit, into the folder `out`."""
    plan = tallies[-1][0]
    tell("estimate", 5)
    estimates = estimates_of(tallies)
    for part, tally in tallies:
        _text(out / f"plan-{tally.round + 1}.json", part.to_json())
        _text(out / f"tally-{tally.round + 1}.json", tally.to_json())
    tell("fit the model", 10)
    model: MobilityModel
    if plan.method == "single-report":
        model = PathModel.from_estimates(plan.grid, estimates)
    else:
        model = MarkovModel.from_estimates(plan.grid, estimates)
    model.save(out / "model.npz")
    tell("sample", 60)
    # Nothing of this is private: the model already holds everything it knows about the reports.
    rng = np.random.default_rng()
    reports = (
        sum(tallies[-1][1].users) if plan.rounds[-1].assignment == "partition" else tallies[-1][1].users[0]
    )
    paths = model.sample(count or reports, rng)
    trips = place(paths, rng, style="neighbours")
    if plan.crs is not None:
        trips = Trajectories(trips.x, trips.y, trips.offsets, crs=plan.crs)
    promise = _promise(campaign, plan, reports)
    for place_, kind in enumerate(FORMATS):
        tell(f"write {kind}", 75 + 6 * place_)
        write(trips, out / f"synthetic.{kind}", metadata={"ldptrace": json.dumps(promise)})
    tell("scorecard", 92)
    card = promise | {
        "trips": len(trips),
        "fit": _fit(model),
        "findings": [str(found) for part, tally in tallies for found in findings(part, tally)],
    }
    _text(out / "scorecard.json", json.dumps(card, indent=1))


def _promise(campaign: Campaign, plan: Plan, reports: int) -> dict[str, Any]:
    """What was promised to those who took part, as plain data."""
    return {
        "campaign": campaign.name,
        "title": campaign.title,
        "method": plan.method,
        "epsilon": decimal_text(plan.epsilon),
        "reports": reports,
        "plan_id": plan.id,
        "plan": plan.document(),
    }


def _fit(model: MobilityModel) -> list[dict[str, Any]]:
    """How well the model matches the answers, in units of their standard errors."""
    return [
        {
            "question": match.question,
            "users": match.users,
            "answers": match.answers,
            "chi2": match.chi2,
            "largest": match.largest,
        }
        for match in (model.matches if isinstance(model, PathModel) else ())
    ]


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
