"""Write the documents of a release into a folder: each is a template of this folder, filled with the promise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from ldptrace.core.atomic import atomic_path, make_folder, together
from ldptrace.core.extras import needed
from ldptrace.core.times import OWN_CLOCKS, zone_words
from ldptrace.errors import InputError
from ldptrace.io.provenance import checksum
from ldptrace.products.statement.promise import OPERATOR, Operator, Promise

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
    texts = {
        "registry.yaml": yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=110),
        "nist-sp-800-226.md": hazards(promise, who, made_with),
        "croissant.json": json.dumps(croissant(promise, who, file, made_with), indent=2) + "\n",
        "CITATION.cff": yaml.safe_dump(
            dict(_citation(promise, who, made_with)), sort_keys=False, allow_unicode=True
        ),
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
    entry: dict[str, Any] = needed("yaml", "planning").safe_load(text)
    return entry


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


def _citation(promise: Promise, operator: Operator, version: str) -> Mapping[str, object]:
    """Return the citation in the Citation File Format."""
    return {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them.",
        "type": "dataset",
        "title": operator.product,
        "authors": [{"name": operator.name or OPERATOR}],
        "abstract": f"Synthetic trips made with ldptrace {version} under {promise.model_words}.",
        "date-released": operator.published,
    } | ({} if operator.url is None else {"url": operator.url})


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
