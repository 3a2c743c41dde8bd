"""What a reader of a scorecard must know about its sets, in sentences."""

from __future__ import annotations

from ldptrace.evaluation.measured import Measured
from ldptrace.evaluation.patterns import TOP
from ldptrace.evaluation.streets import spacing


def set_remarks(real: Measured, synthetic: Measured) -> list[str]:
    """What a reader of this set's values must know."""
    remarks = []
    size, other = len(real.summary), len(synthetic.summary)
    if abs(size - other) > 0.01 * size:
        remarks.append(
            f"the real set has {size:,} trajectories, this one {other:,}; query error and "
            "pattern error compare counts, as in the reference: use their scaled variants, which rank the sets"
        )
    patterns = len(synthetic.summary.patterns)
    if patterns < TOP <= len(real.summary.patterns):
        remarks.append(f"this set has only {patterns} different patterns of 2 to 8 cells")
    if real.traces.has_times and not synthetic.traces.has_times:
        remarks.append("this set has no times, so it is not compared by when trips happen")
    elif real.traces.has_clock and not synthetic.traces.has_clock:
        remarks.append("all trips of this set begin at the same time, so departures are not compared")
    return remarks


def real_remarks(real: Measured) -> list[str]:
    """What a reader must know about the real set."""
    remarks = []
    summary = real.summary
    if len(summary.patterns) == 0:
        remarks.append("no real trajectory leaves its cell, so there are no patterns to compare")
    elif len(summary.patterns) < TOP:
        remarks.append(
            f"the real set has only {len(summary.patterns)} different patterns of 2 to 8 cells; pattern F1 and "
            "pattern error are divided by 100 nevertheless, as in the reference: use the variants"
        )
    beside = summary.beside(summary)
    for name, counts in (("travel distances", beside.lengths), ("diameters", beside.diameters)):
        if counts[0].sum() == 0:
            remarks.append(
                f"the real {name} have too narrow a range for the reference's buckets, which begin at 0; "
                "buckets over the real range were used"
            )
    apart = spacing(real.trajectories, summary.scale)
    fine = min(step * scale for step, scale in zip(summary.grid.step, summary.scale, strict=True))
    if apart > fine * summary.grid.n / 96:
        remarks.append(
            f"the real points are {apart:,.4g} {'m' if real.trajectories.is_geographic else 'units'} apart, so "
            "lines between them cut corners: use the densities of points, not those of lines"
        )
    if real.use is not None and not real.use.tells_turns:
        remarks.append(
            f"only {100 * real.use.on_streets:.0f} % of the real lines lie on streets (points far apart, or a map of "
            "another place or mode of travel), so turns and lengths on streets are not compared"
        )
    if real.trajectories.has_dates and real.trajectories.timezone is None:
        remarks.append("hours of the day are those of UTC: no time zone was given")
    return remarks


def sampled(title: str, item: Measured, *, attacks: bool, streets: bool) -> list[str]:
    """What was done with a sample only of a set that is too large for all of it."""
    looked, size = len(item.trajectories), len(item.summary)
    if looked == size:
        return []
    what = ["the attacks"] * attacks + ["the metrics of streets"] * streets + ["the drawing of lines"]
    return [
        f"{title}: {looked:,} of its {size:,} trajectories, drawn at random, stand for all in {' and '.join(what)}"
    ]
