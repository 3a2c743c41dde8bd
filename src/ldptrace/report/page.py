"""The page of a scorecard: every figure drawn, then one template filled. No script, no network resource."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ldptrace.report import charts, drawings
from ldptrace.report.charts import Series
from ldptrace.report.promise import promise

Document = dict[str, Any]
LEVELS = ("global", "trajectory", "semantic", "street", "time")


def page(document: Document) -> str:
    """The HTML of a scorecard's document, complete in one text."""
    sets = document["sets"]
    return _template().render(
        style=Markup(_text("scorecard.css")),
        evaluation=document["evaluation"],
        real=document["real"],
        sets=sets,
        levels=_levels(document),
        maps=_maps(document),
        flows=_flows(document),
        trips=_trips(document),
        histograms=_histograms(document),
        patterns=_patterns(document),
        queries=_queries(document),
        attacks=_attacks(document),
        samples=_samples(document),
        promises=[promise(item["privacy"]) for item in sets],
    )


def _levels(document: Document) -> list[dict[str, Any]]:
    """Rows of the table of metrics, by level."""
    sets = document["sets"]
    levels: dict[str, list[dict[str, Any]]] = {level: [] for level in LEVELS}
    for name, entry in document["metrics"].items():
        row = _row(sets, "metrics", name)
        corrected = [
            _row(sets, "corrected", other)
            for other, variant in document["corrected"].items()
            if variant["corrects"] == name
        ]
        levels[entry["level"]].append(row | {"corrected": corrected})
    return [{"level": level, "rows": rows} for level, rows in levels.items() if rows]


def _row(sets: Sequence[Document], kind: str, name: str) -> dict[str, Any]:
    entries = [item[kind][name] for item in sets]
    values = [entry["value"] for entry in entries]
    known = [value for value in values if value is not None]
    best = (min if entries[0]["goal"] == "min" else max)(known) if len(sets) > 1 and known else None
    return {
        "title": entries[0]["title"],
        "meaning": entries[0]["meaning"],
        "unit": entries[0]["unit"],
        "goal": entries[0]["goal"],
        "floor": entries[0]["floor"],
        "uniform": entries[0]["uniform"],
        "values": [
            {
                "value": entry["value"],
                "std": entry["std"],
                "best": best is not None and entry["value"] == best,
            }
            for entry in entries
        ],
        "strip": charts.strip([_position(entry) for entry in entries]),
    }


def _position(entry: Document) -> float | None:
    """Where a value lies between that of a generator that knows nothing, 0, and a perfect one, 1.

    There is no such place where knowing nothing does no harm.

    >>> _position({"goal": "min", "value": 0.25, "floor": 0.0, "uniform": 1.0})
    0.75
    """
    value, floor, uniform = entry["value"], entry["floor"], entry["uniform"]
    if value is None or floor is None or uniform is None:
        return None
    if floor == uniform or (floor < uniform) != (entry["goal"] == "min"):
        return None
    share: float = (uniform - value) / (uniform - floor)
    return min(max(share, 0.0), 1.0)


def _ratio(document: Document) -> float:
    """Height of the map per width, as on the ground."""
    x0, y0, x1, y1 = document["evaluation"]["bounds"]
    shrink = math.cos(math.radians((y0 + y1) / 2)) if _geographic(document) else 1.0
    return min(max((y1 - y0) / ((x1 - x0) * max(shrink, 0.05)), 0.45), 1.5)


def _geographic(document: Document) -> bool:
    return str(document["evaluation"]["crs"] or "").upper() in {"EPSG:4326", "OGC:CRS84", "WGS84"}


def _maps(document: Document) -> dict[str, Any]:
    ratio, real = _ratio(document), document["real"]["density"]
    others = [item["portrait"]["density"] for item in document["sets"]]
    deltas = [[b - a for a, b in zip(real, other, strict=True)] for other in others]
    top = max(max(shares) for shares in (real, *others))
    gap = max(abs(delta) for row in deltas for delta in row)
    figures = [_figure("Real", drawings.density_map(real, ratio, top))]
    figures += _named(document, [drawings.density_map(other, ratio, top) for other in others])
    figures += _named(document, [drawings.difference_map(delta, ratio, gap) for delta in deltas], " − real")
    return {
        "figures": figures,
        "scale": drawings.scale_bar(top),
        "difference_scale": drawings.scale_bar(gap, signed=True),
    }


def _flows(document: Document) -> list[dict[str, Any]]:
    side, ratio = min(document["evaluation"]["grid"], 10), _ratio(document)
    real, others = document["real"]["flows"], _all(document, "flows")
    top = max((share for flows in (real, *others) for *_, share in flows), default=1.0)
    gaps = [gap for other in others for gap in drawings.flow_gaps(real, other).values()]
    widest = max(map(abs, gaps), default=1.0) or 1.0
    figures = [_figure("Real", drawings.flow_map(real, side, ratio, top))]
    figures += _named(document, [drawings.flow_map(other, side, ratio, top) for other in others])
    differences = [drawings.flow_difference(real, other, side, ratio, widest) for other in others]
    return [*figures, *_named(document, differences, " − real")]


def _trips(document: Document) -> dict[str, Any]:
    real = document["real"]["trips"]
    top = max(max(row) for trips in (real, *_all(document, "trips")) for row in trips)
    figures = [_figure("Real", drawings.trip_matrix(real, top))]
    gaps = [
        [
            [b - a for a, b in zip(first, second, strict=True)]
            for first, second in zip(real, other, strict=True)
        ]
        for other in _all(document, "trips")
    ]
    gap = max(abs(value) for matrix in gaps for row in matrix for value in row)
    figures += _named(document, [drawings.trip_matrix(trips, top) for trips in _all(document, "trips")])
    figures += _named(document, [drawings.trip_matrix(delta, gap, signed=True) for delta in gaps], " − real")
    return {
        "figures": figures,
        "scale": drawings.scale_bar(top),
        "difference_scale": drawings.scale_bar(gap, signed=True),
        "zones": math.isqrt(len(real)),
    }


def _all(document: Document, name: str) -> list[Any]:
    return [item["portrait"][name] for item in document["sets"]]


def _histograms(document: Document) -> list[dict[str, Any]]:
    figures = []
    for name, title in (("lengths", "Travel distance"), ("diameters", "Diameter")):
        edges = document["edges"][name]
        unit, scale = "map units", 1.0
        if _geographic(document):
            unit, scale = ("km", 1e-3) if edges[-1] > 3000 else ("m", 1.0)
        series = [Series(document["real"][name], "s0")]
        series += [Series(values, _style(k)) for k, values in enumerate(_all(document, name))]
        chart = charts.histogram(edges, series, f"{title.lower()} ({unit})", scale=scale)
        figures.append(_figure(title, chart))
    series = [Series(document["real"]["cells"], "s0")]
    series += [Series(values, _style(k)) for k, values in enumerate(_all(document, "cells"))]
    chart = charts.histogram(document["edges"]["cells"], series, "cells of the path", whole=True)
    return [*figures, _figure("Cells", chart)]


def _patterns(document: Document) -> list[dict[str, Any]]:
    n, ratio = document["evaluation"]["grid"], _ratio(document)
    rows = document["patterns"]
    top = max((max(row["real"], *row["synthetic"]) for row in rows), default=1.0)
    return [
        {
            "picture": drawings.pattern_path(row["cells"], n, ratio),
            "bars": [
                charts.share_bar(value, top, _style(number - 1) if number else "s0")
                for number, value in enumerate([row["real"], *row["synthetic"]])
            ],
        }
        for row in rows
    ]


def _queries(document: Document) -> Markup:
    labels = [f"1/{1 / fraction:.0f}" for fraction in document["queries"]["fractions"]]
    series = [Series(document["queries"]["floor"], "s0 dashed")]
    series += [Series(item["query_curve"], _style(k)) for k, item in enumerate(document["sets"])]
    return charts.curves(labels, series, "area of the square, as a part of the map", "query error")


def _attacks(document: Document) -> list[dict[str, Any]]:
    figures = []
    for name, title in (("reidentification", "Re-identification"), ("outlier", "Outlier")):
        found = [item["attacks"].get(name) for item in document["sets"]]
        if not all(found):
            continue
        series = [
            Series(found[0]["fresh_real"]["resilience"], "s0 dashed"),
            Series(found[0]["uniform"]["resilience"], "s0 dotted"),
        ]
        series += [Series(item["synthetic"]["resilience"], _style(k)) for k, item in enumerate(found)]
        labels = [str(kappa) for kappa in found[0]["kappa"]]
        chart = charts.curves(labels, series, "privacy parameter κ", "resilience ratio", top=1.0)
        attacked = ", ".join(dict.fromkeys(f"{item['synthetic']['attacked']:,}" for item in found))
        figures.append(_figure(title, chart) | {"attacked": attacked})
    return figures


def _samples(document: Document) -> list[dict[str, Any]]:
    portraits = [document["real"], *(item["portrait"] for item in document["sets"])]
    return [
        _figure(
            "Real" if number == 0 else item["name"],
            drawings.sample_map(item["samples"], _ratio(document), _style(number - 1) if number else "s0"),
        )
        for number, item in enumerate(portraits)
        if item["samples"]
    ]


def _named(document: Document, pictures: Sequence[Markup], ending: str = "") -> list[dict[str, Any]]:
    """One figure per set, called by its name."""
    return [
        _figure(item["name"] + ending, picture)
        for item, picture in zip(document["sets"], pictures, strict=True)
    ]


def _figure(title: str, picture: Markup) -> dict[str, Any]:
    return {"title": title, "picture": picture}


def _style(number: int) -> str:
    """CSS class of a set's colour; there are eight."""
    return f"s{number % 8 + 1}"


def _number(value: float | None) -> str:
    """Four decimals, or a dash where there is no value."""
    return "–" if value is None else f"{value:.4f}"


@cache
def _template():  # type: ignore[no-untyped-def]
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = _number
    environment.filters["style"] = _style
    environment.filters["grouped"] = lambda value: f"{value:,}"
    return environment.from_string(_text("scorecard.html"))


def _text(name: str) -> str:
    return files("ldptrace.report").joinpath(name).read_text(encoding="utf-8")
