"""The README of a release: the content of each file, and the privacy promise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ldptrace.server.registry import Campaign, day, shown

FIT = "fit.json"
SUMS = "SHA256SUMS"
PROFILE = "profile.html"
FILES = {
    "README.md": "this text",
    "index.html": "the same as a page, with a map",
    "plan-1.json": "what devices were asked, and with which chances they answered truthfully",
    "plan-2.json": "the same with the second round",
    "tally-1.json": "how often each answer was named",
    "tally-2.json": "the same for the second round",
    "estimates.json": "unbiased shares with their standard errors",
    "series.json": "estimates over time, window by window, and what changed",
    "model.npz": "the mobility model: `ldptrace sample model.npz -o FILE --count N` draws more trips",
    "synthetic.parquet": "synthetic trips, one row for each",
    "synthetic.csv": "the same as text, one row for each point",
    "synthetic.csv.promise.json": "what was promised, for the file of text, which cannot hold it",
    "synthetic.geojson": "the same as lines for a map",
    "travellers.json": "some of the synthetic trips for a live map",
    PROFILE: "a page for the public: when trips begin, where they lead, how long they are",
    "profile.json": "the numbers of that page",
    "registry.yaml": "an entry for the registry of differential-privacy deployments",
    "nist-sp-800-226.md": "how the collection meets each privacy hazard that NIST SP 800-226 lists",
    "croissant.json": "Croissant metadata of the synthetic trips",
    "CITATION.cff": "how to cite the synthetic trips",
    FIT: "the promise, how well the model fits the answers, what was noticed",
    SUMS: "checksums of all other files: `sha256sum -c SHA256SUMS` checks the files beside it",
}


class Stored(NamedTuple):
    """The size and the SHA-256 of a file of a release."""

    bytes: int
    sha256: str

    @property
    def size(self) -> str:
        """The size in a unit that people read.

        >>> Stored(999, "").size, Stored(1_234_567, "").size
        ('999 B', '1.2 MB')
        """
        size = float(self.bytes)
        for unit in ("B", "kB", "MB"):
            if size < 1000:
                return f"{size:.3g} {unit}" if unit == "B" else f"{size:.1f} {unit}"
            size /= 1000
        return f"{size:.1f} GB"


# The files of a release by name; None for those that are written after the list.
Files = Mapping[str, Stored | None]


def readme(campaign: Campaign, card: dict[str, Any], files: Files) -> str:
    """Return the README of a release, in Markdown."""
    about = campaign.about
    lines = [f"# {about.title}", "", _who(campaign), "", *(f"{line}\n" for line in window_lines(card))]
    lines += [
        f"{card['reports']:,} devices answered, each with a randomised report. From the counts a model was "
        f"fitted, and {card['trips']:,} synthetic trips were drawn from it. Nobody made any of these trips.",
        "",
        *(f"{line}\n" for line in card["people"]),
        "## What was promised",
        "",
        *card["promise"]["explanation"],
        "",
        *(f"{line}\n" for line in batch_lines(card)),
    ]
    lines += ["## Files", "", "| file | what it is | size | SHA-256 |", "|---|---|---|---|"]
    for name, stored in files.items():
        known = ("", "") if stored is None else (stored.size, f"`{stored.sha256}`")
        lines.append(f"| [`{name}`]({name}) | {FILES.get(name, '')} | {known[0]} | {known[1]} |")
    lines += ["", "## How well the model fits", "", *_fit(card), ""]
    for title, key in (("Warnings of the fit", "warnings"), ("What looks unlike honest devices", "findings")):
        if card[key]:
            lines += [f"## {title}", "", *(f"- {text}" for text in card[key]), ""]
    if card["streets"]:
        lines += [
            f"Trips follow a public road network ({', '.join(card['streets'])}), which cost no privacy.",
            "",
        ]
    return "\n".join(lines)


def window_lines(card: dict[str, Any]) -> list[str]:
    """Return lines about a window: its time, how much of the earlier windows is remembered, and what changed."""
    found = card.get("window")
    if found is None:
        return []
    written = day if found["to"] - found["from"] >= 86_400 else shown
    lines = [f"Answers that were due from {written(found['from'])} to {written(found['to'])}."]
    if found["before"]:
        plural = "s" if found["before"] > 1 else ""
        kept = (
            "all count the same"
            if found["half_life"] == "forever"
            else f"the weight of a report halves in {found['half_life']}"
        )
        lines.append(
            f"The model also remembers {found['before']} window{plural} before: {kept}, which is worth "
            f"{found['effective']:,} reports."
        )
    return lines + [f"Change: {text}" for text in found["changes"]]


def batch_lines(card: dict[str, Any]) -> list[str]:
    """Return lines about the batches of a shuffled plan: how many reports hide each other, and what both promises came
    to; none for a plan that devices answer directly."""
    found = card.get("batches")
    if not found or not found["of"]:
        return []
    *before, last = found["of"]
    lines = [
        f"Achieved: the shuffler handed over a batch of {last['reports']:,} reports (the plan asks for at least "
        f"{found['least']:,}), of which {last['counted']:,} were counted. An answer in it costs epsilon "
        f"{last['epsilon']:g} with delta {found['delta']:g}, as long as {100 * found['honest']:g} % of the counted "
        f"reports come from honest devices; if shuffler and curator work together, epsilon {found['together']:g}."
    ]
    if before:
        fewest = min(one["counted"] for one in before)
        most = max(one["epsilon"] for one in before)
        batches = "batch before had" if len(before) == 1 else f"{len(before)} batches before had at least"
        lines.append(f"The {batches} {fewest:,} counted reports: epsilon {most:g} or less for an answer.")
    return lines


def _who(campaign: Campaign) -> str:
    """Return one line about who ran the campaign, until when, and whom to ask."""
    parts = [f"Campaign `{campaign.name}`"]
    parts += [f"run by {campaign.about.organiser}"] if campaign.about.organiser else []
    parts += [f"open until {shown(campaign.schedule.until)}"] if campaign.schedule.until else []
    parts += [f"questions to {campaign.about.contact}"] if campaign.about.contact else []
    return ", ".join(parts) + "."


def _fit(card: dict[str, Any]) -> list[str]:
    if not card["fit"]:
        return ["This kind of model was not compared with the answers."]
    alone = {match["question"]: match["chi2"] for match in card["map_alone"]}
    rows = ["| question | answers | misfit of the model |" + (" of the map alone |" if alone else "")]
    rows += ["|---|---|---|" + ("---|" if alone else "")]
    for match in card["fit"]:
        row = f"| {match['question']} | {match['users']:,} | {match['chi2']:.2f} |"
        rows.append(row + (f" {alone[match['question']]:.2f} |" if match["question"] in alone else ""))
    return [*rows, "", "Mean squared misfit in standard errors: near 1, all of it is noise.", *card["notes"]]
