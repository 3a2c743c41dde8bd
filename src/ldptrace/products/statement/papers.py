"""Write the documents of a release into a folder: each is a template of this folder, filled with the privacy promise of
a file, a model or a plan."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date as Date
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from ldptrace.core.atomic import atomic_path, make_folder, together
from ldptrace.core.extras import needed
from ldptrace.core.times import OWN_CLOCKS, zone_words
from ldptrace.errors import InputError, PlanError
from ldptrace.io.provenance import checksum
from ldptrace.protocol.canonical import dumps
from ldptrace.protocol.exact import decimal_text
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.units import duration_words
from ldptrace.protocol.words import CENTRAL, SHUFFLER
from ldptrace.protocol.words import promise as promised

# What stands where only the operator knows the answer.
OPERATOR = "To be filled in by the operator"
# Whose privacy it is, in words.
UNITS = {
    "user": "one person, with all of their trips in the collection",
    "trip": "one trip; a person with several trips is protected for each of them apart",
    "trajectory": "one trajectory, taken as one person's",
}


@dataclass(frozen=True)
class Operator:
    """The publisher of the data, which no file of the collection names."""

    name: str | None = None
    purpose: str | None = None
    region: str | None = None
    product: str = "Synthetic trips"
    sector: str = "Government"
    date: Date | None = None
    author: str | None = None
    url: str | None = None
    license: str | None = None

    @property
    def published(self) -> str:
        """The day of publication, which catalogues need; by default the present day."""
        return (self.date or Date.today()).isoformat()


@dataclass(frozen=True)
class Promise:
    """Epsilon, the unit that it protects, and everything that weakens the promise."""

    epsilon: str
    unit: str = "user"
    users: int | None = None
    method: str = "single-report"
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    # The time zone of the hours, where one is stated.
    timezone: str | None = None
    # Why the promise is weaker than epsilon says, one sentence for each reason.
    weaker: tuple[str, ...] = field(default=())
    # Whether the devices were simulated from trips that the publisher holds.
    simulated: bool = False
    # For shuffled reports: delta, the epsilon that is left if shuffler and curator work together, and the batch.
    delta: str = "0"
    local: str | None = None
    batch: int | None = None

    @staticmethod
    def of_plan(plan: Plan) -> Promise:
        return Promise.of_provenance(promised(plan), what="the plan")

    @staticmethod
    def of_provenance(stated: Mapping[str, Any] | None, what: str) -> Promise:
        """Return the promise that is stored with a synthetic set."""
        if not stated or "epsilon" not in stated:
            raise InputError(
                f"{what} states no promise: a statement is made about synthetic trips, a model or a plan "
                "of ldptrace"
            )
        unit, weaker = str(stated.get("unit", "user")), []
        if unit == "trip":
            weaker.append(
                "The unit is a trip: epsilon holds for each trip of a person, not for all of them together."
            )
        if stated.get("leaks"):
            weaker.append(f"It is not epsilon-LDP as it stands: {stated['leaks']}.")
        if stated.get("experiment"):
            weaker.append(f"{stated['experiment'][0].upper()}{stated['experiment'][1:]}.")
        return Promise(
            str(stated["epsilon"]),
            unit,
            stated.get("users"),
            str(stated.get("method", "single-report")),
            _plan(stated.get("plan")),
            tuple(stated.get("notes") or ()),
            stated.get("timezone"),
            tuple(weaker),
            bool(stated.get("simulated")),
            str(stated.get("delta", "0")),
            stated.get("local_epsilon") if stated.get("trust") == SHUFFLER else None,
            stated.get("batch"),
        )

    @property
    def unit_words(self) -> str:
        return UNITS.get(self.unit, self.unit)

    @property
    def shuffled(self) -> bool:
        """Whether reports went through a shuffler."""
        return self.local is not None

    @property
    def epsilon_words(self) -> str:
        """Epsilon, and for shuffled reports delta and what is left if shuffler and curator work together."""
        if not self.shuffled:
            return f"{self.epsilon}"
        return (
            f"{self.epsilon} with delta {float(self.delta):g} for the replacement of one person's data, as long as "
            f"shuffler and curator do not work together and every batch has at least {self.batch:,} reports; "
            f"{self.local} if they do work together"
        )

    @property
    def central(self) -> bool:
        """Whether a trusted curator received the raw trips."""
        return any(CENTRAL in sentence for sentence in self.weaker)

    @property
    def model_words(self) -> str:
        """The model of differential privacy, local or central, in words."""
        if self.shuffled:
            return "differential privacy of shuffled reports"
        return f"{'central' if self.central else 'local'} differential privacy"

    @property
    def trust(self) -> str:
        """A sentence about who sees raw trips."""
        if self.central:
            return "Raw trips were handed to a trusted curator."
        if self.simulated:
            shuffler = ", and so was the shuffler" if self.shuffled else ""
            return (
                f"The devices were simulated from trips that the publisher holds{shuffler}: the publisher is trusted "
                "with them, and epsilon holds for what is published."
            )
        words = "Nobody but the device sees a trip. The curator, the network and readers are not trusted."
        if self.shuffled:
            words += (
                f" That shuffler and curator do not work together is trusted: if they do, epsilon {self.local} is "
                "left."
            )
        return words

    @property
    def mechanisms(self) -> list[str]:
        """The randomizers of the plan, each with its questions."""
        asked: dict[str, list[str]] = {}
        for round_ in () if self.plan is None else self.plan.rounds:
            for ask in round_.asks:
                name = f"{type(ask.randomizer).__name__} ({ask.randomizer.about})"
                asked.setdefault(name, []).append(ask.question.name)
        return [f"{name} for {', '.join(questions)}" for name, questions in asked.items()]

    @property
    def renewal(self) -> str:
        """A sentence about whether and how the budget is renewed."""
        if self.plan is None or self.plan.standing is None:
            return "Each device answers once. The budget does not renew."
        standing, shuffled = self.plan.standing, self.plan.shuffled
        lifetime = decimal_text(standing.lifetime)
        if shuffled is not None and shuffled.lifetime is not None:
            lifetime = f"{decimal_text(shuffled.lifetime)} ({lifetime} if shuffler and curator work together)"
        return (
            f"Each device answers once in every window of {duration_words(standing.every)}, with epsilon "
            f"{self.epsilon_words} for each answer, about one trip of the last {duration_words(standing.recent)} or "
            f"about none. All answers of a device together stay within epsilon {lifetime}. What a person does every "
            "week is protected by that sum, not by the epsilon of one answer."
        )


def _plan(document: object) -> Plan | None:
    if document is None:
        return None
    try:
        return Plan.from_json(dumps(document))
    except (PlanError, TypeError, ValueError):
        return None


NAMES = ("registry.yaml", "nist-sp-800-226.md", "croissant.json", "CITATION.cff")
# The sectors that the registry's schema knows.
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
TYPES = {".parquet": "application/vnd.apache.parquet", ".csv": "text/csv", ".geojson": "application/geo+json"}


def write_statement(
    promise: Promise, folder: str | Path, operator: Operator | None = None, file: Path | None = None
) -> list[Path]:
    """Write the registry entry, the answers about hazards, the metadata and the citation, and return the four paths."""
    from importlib.metadata import version

    target, who, made_with = Path(folder), operator or Operator(), version("ldptrace")
    if target.exists() and not target.is_dir():
        raise InputError(f"a statement is a folder of papers, and {target} is a file")
    yaml = needed("yaml", "planning")
    entry = registry_entry(promise, who, made_with)
    citation = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them.",
        "type": "dataset",
        "title": who.product,
        "authors": [{"name": who.name or OPERATOR}],
        "abstract": f"Synthetic trips made with ldptrace {made_with} under {promise.model_words}.",
        "date-released": who.published,
    } | ({} if who.url is None else {"url": who.url})
    texts = {
        "registry.yaml": yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=110),
        "nist-sp-800-226.md": hazards(promise, who, made_with),
        "croissant.json": json.dumps(croissant(promise, who, file, made_with), indent=2) + "\n",
        "CITATION.cff": yaml.safe_dump(citation, sort_keys=False, allow_unicode=True),
    }
    with together():
        make_folder(target)
        for name, text in texts.items():
            with atomic_path(target / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    return [target / name for name in NAMES]


def hazards(promise: Promise, operator: Operator, version: str) -> str:
    """Return the answers to the hazards that NIST SP 800-226 asks about, in Markdown."""

    def about(word: str) -> str | None:
        """Return the sentence of the promise that mentions a topic."""
        return next((sentence for sentence in promise.weaker if word in sentence), None)

    return _filled("hazards.md", promise, operator, version=version, about=about)


def registry_entry(promise: Promise, operator: Operator, version: str) -> dict[str, Any]:
    """Return the entry for the registry of differential-privacy deployments as plain data, complete for tier 3. Missing
    facts that only the operator knows are marked."""
    if operator.sector not in SECTORS:
        raise InputError(f"the registry's sectors are {', '.join(SECTORS)}, got {operator.sector!r}")
    # As in the registry: name, curators and year.
    parts = (operator.product, operator.name or OPERATOR, operator.published[:4])
    slug = "_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-")
    standing = promise.plan is not None and promise.plan.standing is not None
    text = _filled("registry.yaml", promise, operator, version=version, slug=slug, standing=standing)
    return needed("yaml", "planning").safe_load(text)


def croissant(promise: Promise, operator: Operator, file: Path | None, version: str) -> dict[str, Any]:
    """Return the Croissant metadata of a synthetic set, with the fields of responsible AI, as plain data. `file` is the
    synthetic set, if there is one."""
    said = f"Epsilon {promise.epsilon_words} under {promise.model_words} for {promise.unit_words}. {promise.renewal}"
    asks = () if promise.plan is None else [ask for part in promise.plan.rounds for ask in part.asks]
    timed = any(ask.question.name == "departure" for ask in asks)
    clocks = f" {OWN_CLOCKS}" if timed and not promise.simulated else ""
    if promise.timezone is not None:
        clocks = f" {zone_words(promise.timezone, dates=False)}"
    fields = {
        "title": operator.product,
        "author": f"{{{operator.name or OPERATOR}}}",
        "year": operator.published[:4],
        "note": f"Made with ldptrace {version}",
    } | ({} if operator.url is None else {"url": operator.url})
    bibtex = (
        f"@misc{{synthetic_trips, {', '.join(f'{name} = {{{value}}}' for name, value in fields.items())}}}"
    )
    text = _filled("croissant.json", promise, operator, said=said, clocks=clocks, citation=bibtex)
    document: dict[str, Any] = json.loads(text)
    if file is not None:
        document["distribution"] = [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "encodingFormat": TYPES.get(file.suffix, "application/octet-stream"),
                "sha256": checksum(file),
            }
        ]
    return document


def _filled(template: str, promise: Promise, operator: Operator, **facts: object) -> str:
    """Return a template of this folder, filled with the promise and with what else it asks for."""
    text = files(__package__).joinpath(template).read_text(encoding="utf-8")
    # None of these texts is HTML: values of YAML and JSON are written by the filter `tojson`.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(text).render(
        promise=promise,
        operator=operator,
        unknown=OPERATOR,
        weaker=list(promise.weaker),
        notes=list(promise.notes),
        **facts,
    )
