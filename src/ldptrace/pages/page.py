"""The page of a scorecard: every figure drawn, then one template filled. No script, no network resource."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ldptrace.core.crs import METRES_PER_DEGREE, is_geographic
from ldptrace.core.words import MEASURED, measure
from ldptrace.pages import charts, drawings
from ldptrace.pages.charts import Series
from ldptrace.pages.drawings import Frame
from ldptrace.pages.promise import promise, sharing
from ldptrace.protocol.lattice import cell_name

Document = dict[str, Any]
LEVELS = {
    "global": "Global level: the whole map",
    "trajectory": "Trajectory level: trips one by one",
    "semantic": "Semantic level: frequent routes",
    "street": "",
    "time": "",
    "mobility": "In general",
    "difftraj": "DiffTraj’s four metrics, on 16 × 16 cells",
    "stream": "",
}
NINE = ("global", "trajectory", "semantic")
# Sets whose map stands at the top; the others are further down.
BESIDE = 3


def page(document: Document) -> str:
    """Return the HTML of the judged document of a scorecard (`ldptrace.evaluation.verdict.judged`), complete in one
    text."""
    sets, frame = document["sets"], _frame(document)
    promises = [promise(item["privacy"]) for item in sets]
    levels = {level: _rows(document, level) for level in LEVELS}
    maps, drawn = _maps(document, frame), _drawn(document, frame)
    beside = [_figure("Real", maps["figures"][0]["picture"]), *maps["figures"][1 : len(sets) + 1]]
    if document["real"]["samples"]:
        beside = drawn[: len(sets) + 1]
    beside = beside[: BESIDE + 1]
    pictures = {
        "uses": [use | {"strip": charts.strip(use["places"], use["alone"])} for use in document["uses"]],
        "symbol": drawings.street_symbol(document["streets"], frame.ratio) if frame.streets else "",
        "beside": beside,
        "trips_drawn": [figure for figure in drawn if figure not in beside],
        "courses": _courses(document),
        "moments": _moments(document, frame),
        "maps": maps,
        "flows": _flows(document, frame),
        "trips": _trips(document, frame),
        "histograms": _histograms(document),
        "times": _times(document),
        "patterns": _patterns(document, frame.ratio),
        "queries": _queries(document),
        "attacks": attack_figures([item["attacks"] for item in sets]),
        "corrected": [_row(sets, "corrected", name) for name in document["corrected"]],
    }
    return template("scorecard.html").render(
        **(document | pictures),
        style=Markup(asset("scorecard.css")),
        geographic=_geographic(document),
        sharing=sharing(document, promises),
        promises=promises,
        nine=[{"title": LEVELS[level], "rows": levels[level]} for level in NINE],
        mobility=[{"title": LEVELS[level], "rows": levels[level]} for level in ("mobility", "difftraj")],
        street_rows=levels["street"],
        time_rows=levels["time"],
        stream_rows=levels["stream"],
    )


def attack_page(document: Document) -> str:
    """Return the page of the two attacks alone."""
    return template("attacks.html").render(
        style=Markup(asset("scorecard.css")),
        sets=document["sets"],
        attacks=attack_figures([item["attacks"] for item in document["sets"]]),
    )


def summary(document: Document) -> str:
    """Return a few lines of HTML for a notebook: the verdicts and the table of metrics."""
    sets = document["sets"]
    return template("summary.html").render(
        sets=sets,
        verdicts=document["verdicts"],
        rows=[_row(sets, "metrics", name) for name in document["metrics"]],
    )


def _rows(document: Document, level: str) -> list[dict[str, Any]]:
    names = [name for name, entry in document["metrics"].items() if entry["level"] == level]
    return [_row(document["sets"], "metrics", name) for name in names]


# What stands below a value: controls by their names on the page.
BELOW = {
    "routed": "plain_routing",
    "apart": "independent",
    "everyday": "public_profile",
    "shuffled": "shuffled_times",
}


def _row(sets: Sequence[Document], kind: str, name: str) -> dict[str, Any]:
    entries = [item[kind][name] for item in sets]
    controls = [entry.get("controls") or {} for entry in entries]
    return {
        **{name: entries[0][name] for name in ("title", "meaning", "unit", "goal", "floor", "uniform")},
        "measured": entries[0]["unit"].partition(",")[0] in MEASURED,
        "alone": controls[0].get("map_alone"),
        "values": [
            {name: entry.get(name) for name in ("value", "std", "counted", "best")}
            | {name: other.get(control) for name, control in BELOW.items()}
            for entry, other in zip(entries, controls, strict=True)
        ],
        "strip": charts.strip([entry["place"] for entry in entries], entries[0]["alone"]),
    }


def _frame(document: Document) -> Frame:
    """Return the map, in proportions as on the ground."""
    x0, y0, x1, y1 = document["evaluation"]["bounds"]
    shrink, metres = 1.0, None
    if _geographic(document):
        shrink = max(math.cos(math.radians((y0 + y1) / 2)), 0.05)
        metres = (x1 - x0) * shrink * METRES_PER_DEGREE
    ratio = min(max((y1 - y0) / ((x1 - x0) * shrink), 0.45), 1.5)
    return Frame(ratio, metres, bool(document["streets"]))


def _geographic(document: Document) -> bool:
    return is_geographic(document["evaluation"]["crs"])


def _drawn(document: Document, frame: Frame) -> list[dict[str, Any]]:
    """Draw a few hundred trips of every set, real ones first, controls last."""
    shown = [("Real", document["real"], "s0")]
    shown += [(item["name"], item["portrait"], _style(k)) for k, item in enumerate(document["sets"])]
    shown += [(f"Control: {item['name']}", item, "s0") for item in document["controls"]]
    return [
        _figure(title, drawings.trip_map(item["samples"], frame, style))
        for title, item, style in shown
        if item["samples"]
    ]


def _compared(
    document: Document, name: str, draw: Callable[..., Markup], gap: Callable[[Any, Any], Any]
) -> list[dict[str, Any]]:
    """Draw a table of the real set, that of each set, and the difference of each (`gap` of the real and the other)."""
    real = document["real"][name]
    others = [(item["name"], item["portrait"][name]) for item in document["sets"]]
    figures = [_figure(title, draw(table, signed=False)) for title, table in [("Real", real), *others]]
    return figures + [
        _figure(f"{title} − real", draw(gap(real, table), signed=True)) for title, table in others
    ]


def _gap(real: Any, other: Any) -> Any:
    """Return the difference of two tables of any depth."""
    if isinstance(real, list):
        return [_gap(a, b) for a, b in zip(real, other, strict=True)]
    return other - real


def _scales(top: float) -> dict[str, Markup]:
    return {"scale": drawings.scale_bar(top), "difference_scale": drawings.scale_bar(top, signed=True)}


def _maps(document: Document, frame: Frame) -> dict[str, Any]:
    # One scale for shares and differences, set by the real map alone: a good set's difference is pale.
    top = max(document["real"]["density"])
    draw = partial(drawings.density_map, frame=frame, top=top)
    return {"figures": _compared(document, "density", draw, _gap), **_scales(top)}


def _flows(document: Document, frame: Frame) -> list[dict[str, Any]]:
    side = min(document["evaluation"]["grid"], 10)
    top = max((share for *_, share in document["real"]["flows"]), default=1.0)
    draw = partial(drawings.flow_map, side=side, frame=frame, top=top)
    return _compared(document, "flows", draw, drawings.flow_gaps)


def _trips(document: Document, frame: Frame) -> dict[str, Any]:
    real = document["real"]["trips"]
    others = [item["portrait"]["trips"] for item in document["sets"]]
    top, side = max(max(row) for row in real), math.isqrt(len(real))
    figures = [
        _figure("The zones", drawings.zone_map(side, frame)),
        *_compared(document, "trips", partial(drawings.trip_matrix, top=top), _gap),
    ]
    pairs = sorted(
        ((share, a, b) for a, row in enumerate(real) for b, share in enumerate(row) if share > 0),
        reverse=True,
    )
    largest = [
        {
            "name": f"{cell_name(a, side)} → {cell_name(b, side)}",
            "shares": [share, *(other[a][b] for other in others)],
        }
        for share, a, b in pairs[:5]
    ]
    return {"figures": figures, **_scales(top), "largest": largest}


def _series(document: Document, name: str) -> list[Series]:
    own = [Series(item["portrait"][name], _style(k)) for k, item in enumerate(document["sets"])]
    return [Series(document["real"][name], "s0"), *own]


def _histograms(document: Document) -> list[dict[str, Any]]:
    figures = []
    for name, title in (("lengths", "Travel distance"), ("diameters", "Diameter")):
        edges = document["edges"][name]
        unit, scale = "map units", 1.0
        if _geographic(document):
            unit, scale = ("km", 1e-3) if edges[-1] > 3000 else ("m", 1.0)
        chart = charts.histogram(edges, _series(document, name), f"{title.lower()} ({unit})", scale=scale)
        figures.append(_figure(title, chart))
    edges, cells = document["edges"]["cells"], _series(document, "cells")
    return [*figures, _figure("Cells", charts.histogram(edges, cells, "cells of the path", whole=True))]


def _times(document: Document) -> list[dict[str, Any]]:
    """Draw when trips begin, how long they take and how fast they are; nothing without times."""
    figures = []
    if document["real"]["hours"]:
        title = f"hour of the day ({document['evaluation'].get('clock', 'local')})"
        figures.append(_figure("Departures", charts.day(_series(document, "hours"), title)))
    geographic = _geographic(document)
    speed: Callable[[float], str] = _kmh if geographic else "{:.2g}".format
    unit = "km/h" if geographic else "map units per second"
    for name, title, axis, label in (
        ("durations", "Durations", "duration (logarithmic)", _span),
        ("speeds", "Mean speeds", f"{unit} (logarithmic)", speed),
    ):
        edges, series = document["edges"][name], _series(document, name)
        if edges and document["real"][name]:
            figures.append(_figure(title, charts.classes(edges, series, axis, label)))
    return figures


def _kmh(speed: float) -> str:
    return f"{3.6 * speed:.3g}" if 3.6 * speed >= 0.1 else "0"


def _courses(document: Document) -> list[dict[str, Any]]:
    """Draw how streams go over time; nothing where sets were not compared as streams."""
    stream = document["stream"]
    if stream is None:
        return []
    first, last = stream["from"], stream["ticks"] - 1
    figures = []
    for name, title, y_title, top in (
        ("present", "On the way", "people", None),
        ("density_error", "Density error ↓", "nats (JSD)", None),
        ("transition_error", "Transition error ↓", "nats (JSD)", None),
        ("hotspot_ndcg", "Hotspots ↑", "NDCG@10", 1.0),
        ("pattern_f1", "Pattern F1 ↑", "share", 1.0),
    ):
        real = Series(
            stream["real" if name == "present" else "floor"][name], "s0" if name == "present" else "s0 dashed"
        )
        own = [Series(item["course"][name], _style(k)) for k, item in enumerate(document["sets"])]
        chart = charts.course([real, *own], first, last, f"tick of {stream['tick']:g} s", y_title, top)
        figures.append(_figure(title, chart))
    return figures


def _moments(document: Document, frame: Frame) -> list[dict[str, Any]]:
    """Draw maps of the real stream and of each set at a few moments, on one scale."""
    stream = document["stream"]
    if stream is None:
        return []
    streams = [("Real", stream["real"]), *((item["name"], item["course"]) for item in document["sets"])]
    top = max(share for shares in stream["real"]["maps"] for share in shares)
    return [
        _figure(f"{name}, tick {tick}", drawings.density_map(shares, frame, top))
        for name, course in streams
        for tick, shares in zip(stream["moments"], course["maps"], strict=True)
    ]


def _span(seconds: float) -> str:
    """Write a duration in few characters. Less than a second is shown as none.

    >>> _span(45.0), _span(600.0), _span(5400.0), _span(9.5e-07)
    ('45 s', '10 min', '1.5 h', '0 s')
    """
    if seconds < 1:
        return "0 s"
    if seconds < 100:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 3600 else f"{seconds / 3600:.2g} h"


def _patterns(document: Document, ratio: float) -> list[dict[str, Any]]:
    rows = [(row["cells"], [row["real"], *row["synthetic"]]) for row in document["patterns"]]
    top = max((max(shares) for _, shares in rows), default=1.0)
    styles = ["s0", *(_style(k) for k in range(len(document["sets"])))]
    return [
        {
            "picture": drawings.pattern_path(cells, document["evaluation"]["grid"], ratio),
            "bars": [
                charts.share_bar(share, top, style) for share, style in zip(shares, styles, strict=True)
            ],
        }
        for cells, shares in rows
    ]


def _queries(document: Document) -> Markup:
    labels = [f"1/{1 / fraction:.0f}" for fraction in document["queries"]["fractions"]]
    series = [Series(document["queries"]["floor"], "s0 dashed")]
    series += [Series(item["query_curve"], _style(k)) for k, item in enumerate(document["sets"])]
    return charts.curves(labels, series, "size of the square, as a part of the area", "query error ↓")


def attack_figures(attacks: Sequence[Document]) -> list[dict[str, Any]]:
    """Draw both attacks on every set, beside the same on the other real trips and on random walks."""
    figures = []
    for name, title in (("reidentification", "Re-identification"), ("outlier", "Outlier")):
        shown = [item[name] for item in attacks if name in item]
        if len(shown) < len(attacks) or not shown:
            continue
        series = [
            Series(shown[0]["fresh_real"]["resilience"], "s0 dashed"),
            Series(shown[0]["uniform"]["resilience"], "s0 dotted"),
        ]
        series += [Series(item["synthetic"]["resilience"], _style(k)) for k, item in enumerate(shown)]
        labels = [str(kappa) for kappa in shown[0]["kappa"]]
        chart = charts.curves(labels, series, "κ", "share that stays hidden ↑", top=1.0)
        attacked = ", ".join(dict.fromkeys(f"{item['synthetic']['attacked']:,}" for item in shown))
        figures.append(_figure(title, chart) | {"attacked": attacked})
    return figures


def _figure(title: str, picture: Markup) -> dict[str, Any]:
    return {"title": title, "picture": picture}


def _style(number: int) -> str:
    """Return the CSS class of a set's colour; there are eight."""
    return f"s{number % 8 + 1}"


@cache
def template(name: str, package: str = "ldptrace.pages"):  # type: ignore[no-untyped-def]
    """Return a template of a package, with the filters of all pages. It may extend `frame.html`."""
    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["measure"] = measure
    environment.filters["style"] = _style
    environment.filters["grouped"] = lambda value: f"{value:,}"
    environment.filters["percent"] = lambda value: f"{100 * value:.2f} %"
    return environment.from_string(asset(name, package))


def asset(name: str, package: str = "ldptrace.pages") -> str:
    """Return the text of a file of a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
