"""Make the files of a release from tallies. Only counts are read."""

from __future__ import annotations

import json
import math
import secrets
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.filesize import decimal

from ldptrace.core.times import OWN_CLOCKS
from ldptrace.curator import Tally
from ldptrace.curator.estimates import TripsPerPerson, trips_per_person
from ldptrace.curator.tally import findings
from ldptrace.engines.local import write_drawn
from ldptrace.errors import FitWarning, InputError
from ldptrace.io.provenance import checksum
from ldptrace.methods.release import Release
from ldptrace.models import fit_model
from ldptrace.models.observation import Match, noise_reaches
from ldptrace.models.space_time import TimedModel
from ldptrace.products.profile import Profile, profile_page
from ldptrace.products.sample import sample_of
from ldptrace.products.statement import Operator, Promise, write_statement
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import promise
from ldptrace.roads import RoadNetwork
from ldptrace.server import fence, series, streets
from ldptrace.server.registry import Campaign
from ldptrace.server.release_pages import DRAWN, FIT, SUMS, Files, readme, release_page
from ldptrace.server.rounds import estimates_of
from ldptrace.server.series import Recalled, Recollection

# Told how far a release is: a stage and a percentage.
Tell = Callable[[str, int], None]

FORMATS = ("parquet", "csv", "geojson")
# Trips of the model that its profile is made of.
PROFILED = 20_000


@dataclass(frozen=True)
class Material:
    """The input of a release: the tallies of all rounds, or those of windows, of which the last one is released; the
    files of the road network, the drawing of its streets, the public address of the release, if it is known, and the
    batches of a shuffled campaign."""

    campaign: Campaign
    tallies: list[tuple[Plan, Tally]]
    network: dict[str, bytes]
    streets: bytes
    address: str | None
    batches: Sequence[dict[str, Any]]


def write_release(material: Material, count: int, out: Path, tell: Tell) -> None:
    """Write a release to the folder `out`: estimates, model, synthetic trips in three formats, the fit of the model,
    and a page."""
    campaign, tallies, network = material.campaign, material.tallies, material.network
    plan = tallies[-1][0]
    tell("estimate", 5)
    batches = _batches(plan, tallies, material.batches)
    windows = [] if plan.standing is None else Recollection().windows(tallies)
    if windows:
        tallies = tallies[-1:]
        _text(out / series.FILE, json.dumps(series.over_time(windows)))
    estimates = windows[-1].now if windows else estimates_of(tallies)
    for part, tally in tallies:
        _text(out / f"plan-{tally.round + 1}.json", part.to_json())
        _text(out / f"tally-{tally.round + 1}.json", tally.to_json())
    _text(out / "estimates.json", estimates.to_json())
    tell("read the streets" if network else "fit the model", 8)
    public = replace(fence.network(network), name=" and ".join(network)) if network else None
    tell("fit the model", 10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FitWarning)
        model = fit_model(estimates, public=public, progress=_fitting(tell))
    together = plan.rounds[tallies[-1][1].round].assignment == "everyone"
    reports = tallies[-1][1].users[0] if together else sum(tallies[-1][1].users)
    release = Release.of(model)
    release = replace(release, promised={**(release.promised or {}), "users": reports})
    release.save(out / "model.npz")
    tell("sample", 60)
    # Post-processing: the model already holds everything that is known about the reports.
    drawn, seed = count or model.trips(reports), secrets.randbits(63)
    for place, kind in enumerate(FORMATS):
        tell(f"write {kind}", 65 + 9 * place)
        # The same trips each time, drawn block by block: they need not fit into the memory.
        draw = release.draw(drawn, np.random.default_rng(seed))
        write_drawn(draw, out / f"synthetic.{kind}", release.labels(seed))
    tell("check the fit", 92)
    share = model.without_trip
    each = trips_per_person(estimates, without=None if share is None else (share.value, share.std_error))
    card: dict[str, Any] = {
        "campaign": campaign.name,
        "title": campaign.terms.title,
        "reports": reports,
        "trips": drawn,
        "people": [
            *model.share_lines,
            *([] if each is None else each.words()),
            *([OWN_CLOCKS] if isinstance(model, TimedModel) else []),
        ],
        "promise": promise(plan),
        "batches": batches,
        "fit": _matches(model.matches),
        "map_alone": _matches(model.map_alone),
        "notes": [] if model.map_note is None else [model.map_note],
        "explanation": model.explain().splitlines(),
        "streets": list(network),
        "warnings": [str(one.message) for one in caught if issubclass(one.category, FitWarning)],
        "findings": [finding for part, tally in tallies for finding in findings(part, tally)],
        "window": _window(windows) if windows else None,
    }
    tell("write the profile and the documents", 94)
    card["notes"] += _profile(campaign, release, public, each, out)
    _text(out / FIT, json.dumps(card, indent=1))
    about = campaign.terms
    operator = Operator(about.organiser or None, product=about.title or campaign.name, url=material.address)
    write_statement(replace(Promise.of_plan(plan), users=reports), out, operator, out / "synthetic.parquet")
    tell("write the page", 96)
    some = model.sample(min(DRAWN, drawn), np.random.default_rng())
    (out / streets.TRAVELLERS).write_bytes(
        streets.write_travellers(model.sample(streets.KEPT, np.random.default_rng()), plan)
    )
    later = ("README.md", "index.html", SUMS)
    _text(out / "README.md", readme(campaign, card, _listed(out, later)))
    _text(out / "index.html", release_page(campaign, card, _listed(out, later[1:]), some, material.streets))
    _text(out / SUMS, "".join(f"{sha256}  {name}\n" for name, (_, sha256) in _listed(out).items()))


def _listed(out: Path, later: Sequence[str] = ()) -> Files:
    """Return the files of the folder with sizes and checksums, and the names of those that are written later."""
    files = (path for path in out.iterdir() if path.is_file())
    listed = {path.name: (decimal(path.stat().st_size), checksum(path)) for path in files}
    return dict(sorted((listed | dict.fromkeys(later, ("", ""))).items()))


def _batches(
    plan: Plan, tallies: Sequence[tuple[Plan, Tally]], batches: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return what a shuffled plan asks of a batch, and the batches that were counted in these tallies, in their order,
    with both promises as achieved; None for a plan that devices answer directly."""
    if plan.shuffled is None:
        return None
    counted = {(one["plan"], one["window"]): one for one in batches if not one["deleted"]}
    own = [counted.get((tally.plan_id, tally.window)) for _, tally in tallies]
    keys = ("window", "reports", "counted", "omitted", "epsilon")
    return {
        "least": plan.shuffled.batch,
        "honest": float(plan.shuffled.honest),
        "delta": float(plan.shuffled.delta),
        "together": float(plan.epsilon),
        "of": [{key: one[key] for key in keys} for one in own if one is not None],
    }


def _window(windows: Sequence[Recalled]) -> dict[str, Any]:
    """Return the time of a window, how much of the earlier windows is remembered, and what changed."""
    last = windows[-1]
    assert last.plan.standing is not None
    same = [one for one in windows if one.plan.id == last.plan.id]
    # What was before the last change is forgotten.
    since = max((one.changes[0].since for one in same if one.changes), default=-math.inf)
    return {
        "window": last.tally.window,
        "from": last.begin,
        "to": last.begin + last.plan.standing.every,
        "before": sum(one.begin >= since for one in same) - 1,
        "half_life": last.half_life,
        "effective": round(last.effective),
        "changes": [f"{change.words('windows')}." for change in last.changes],
    }


def _profile(
    campaign: Campaign,
    release: Release,
    public: RoadNetwork | None,
    each: TripsPerPerson | None,
    out: Path,
) -> list[str]:
    """Write the page for the public with its numbers, and with street counts if trips follow streets. Its numbers are
    of the people who answered, not of all answers that the model remembers. Returns notes on what is missing."""
    sample, notes = sample_of(release, (release.promised or {})["users"], PROFILED), []
    try:
        profile = Profile.of(sample, roads=public, each=each)
    except InputError as error:
        notes = [f"The profile is without streets: {error}."]
        profile = Profile.of(sample, each=each)
    title = f"How people move: {campaign.terms.title or campaign.name}"
    _text(out / "profile.html", profile_page(profile, title))
    _text(out / "profile.json", json.dumps(profile.document(), indent=1))
    return notes


def _fitting(tell: Tell) -> Callable[[float], None]:
    """Return a function that reports the progress of the fit, once for each percent."""
    told = 10

    def progress(part: float) -> None:
        nonlocal told
        percent = 10 + int(50 * min(max(part, 0.0), 1.0))
        if percent > told:
            told = percent
            tell("fit the model", percent)

    return progress


def _matches(matches: Sequence[Match]) -> list[dict[str, Any]]:
    """Return how well the model fits the answers to each question, in standard errors, and how large a misfit noise
    alone explains."""
    return [asdict(match) | {"noise": round(noise_reaches(match.answers), 3)} for match in matches]


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
