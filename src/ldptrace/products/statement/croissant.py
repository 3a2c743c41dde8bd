"""Croissant metadata of a synthetic set, with the fields of responsible AI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldptrace.core.times import OWN_CLOCKS, zone_words
from ldptrace.io.provenance import checksum
from ldptrace.products.statement.promise import OPERATOR, Operator, Promise

# The context of Croissant 1.0 and its vocabulary for responsible AI.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
} | {
    name: f"cr:{name}"
    for name in (
        *(
            "citeAs",
            "column",
            "equivalentProperty",
            "extract",
            "field",
            "fileObject",
            "fileProperty",
            "fileSet",
        ),
        *(
            "format",
            "includes",
            "isLiveDataset",
            "jsonPath",
            "key",
            "md5",
            "parentField",
            "path",
            "recordSet",
        ),
        *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
        "transform",
    )
}
TYPES = {".parquet": "application/vnd.apache.parquet", ".csv": "text/csv", ".geojson": "application/geo+json"}


def croissant(promise: Promise, operator: Operator, file: Path | None, version: str) -> dict[str, Any]:
    """Return the metadata as plain data. `file` is the synthetic set, if there is one."""
    said = f"Epsilon {promise.epsilon_words} under {promise.model_words} for {promise.unit_words}. {promise.renewal}"
    asks = () if promise.plan is None else [ask for part in promise.plan.rounds for ask in part.asks]
    timed = any(ask.question.name == "departure" for ask in asks)
    own = timed and promise.timezone is None and not promise.simulated
    clocks = f"{OWN_CLOCKS} " if own else ""
    if promise.timezone is not None:
        clocks = f"{zone_words(promise.timezone, dates=False)} "
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": operator.product,
        "description": f"Synthetic trips, drawn from a model fitted to randomised reports. {clocks}{said}",
        "license": operator.license or OPERATOR,
        "url": operator.url or OPERATOR,
        "version": "1.0.0",
        "datePublished": operator.published,
        "creator": {"@type": "sc:Organization", "name": operator.name or OPERATOR},
        "citeAs": _bibtex(operator, version),
        "rai:hasSyntheticData": True,
        "rai:dataCollection": promise.trust,
        "rai:dataPreprocessingProtocol": "Trips were cut into cells of a public grid; what was sent of them was "
        "changed at random; a model was fitted to the sums, and the trips of this set were drawn from it.",
        "rai:personalSensitiveInformation": " ".join((f"None is included. {said}", *promise.weaker)),
        "rai:dataBiases": "Only people with a device that takes part are represented, each with one trip, so numbers "
        "weight people, not trips. Noise weighs more on places and hours with few people.",
        "rai:dataLimitations": " ".join(
            (
                "Single trips are drawn, not observed: nothing can be learned from one of them. Rare places and hours "
                "are smoothed.",
                *promise.weaker,
            )
        ),
        "rai:dataSocialImpact": "Planning may overlook places and hours with few people, which are the least certain.",
        "rai:dataUseCases": operator.purpose or OPERATOR,
        "rai:dataReleaseMaintenancePlan": promise.renewal,
    }
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


def _bibtex(operator: Operator, version: str) -> str:
    """Return the citation of the data in BibTeX."""
    fields = {
        "title": operator.product,
        "author": f"{{{operator.name or OPERATOR}}}",
        "year": operator.published[:4],
        "note": f"Made with ldptrace {version}",
    } | ({} if operator.url is None else {"url": operator.url})
    return f"@misc{{synthetic_trips, {', '.join(f'{name} = {{{value}}}' for name, value in fields.items())}}}"
