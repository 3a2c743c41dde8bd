"""Write the documents of a release into a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ldptrace.core.atomic import atomic_path, make_folder, together
from ldptrace.core.extras import needed
from ldptrace.errors import InputError
from ldptrace.products.statement.croissant import croissant
from ldptrace.products.statement.hazards import hazards
from ldptrace.products.statement.promise import OPERATOR, Operator, Promise
from ldptrace.products.statement.registry import registry_entry

NAMES = ("registry.yaml", "nist-sp-800-226.md", "croissant.json", "CITATION.cff")


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
