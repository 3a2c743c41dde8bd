"""Pages of the site that are written elsewhere: documents at the top of the repository, the help of the commands."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Where documents of the repository stand in the site.
PAGES = {
    "protocol/v1.md": "reference/protocol-v1.md",
    "protocol/README.md": "reference/protocol-files.md",
    "clients/js/README.md": "how-to/javascript.md",
    "clients/java/README.md": "how-to/java.md",
    "SECURITY.md": "explanation/threat-model.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
# Options that the page of commands explains once, by what they are for.
SHARED = {
    "Options for coordinates and times": ("--bounds", "--crs", "--timezone"),
    "Options for reading trips": (
        *("--outside", "--format", "--x", "--y", "--t", "--id", "--user", "--split-gap"),
    ),
    "Options for streets and areas": ("--area", "--roads", "--routes", "--off-streets"),
    "Options for output": ("--json", "--to", "--force"),
    "Options for large data": ("--engine", "--memory"),
    "Options for questions": ("--time", "--week", "--centre"),
    "Options for standing plans": ("--every", "--recent", "--start", "--lifetime"),
    "Options for generated trips": ("--preset", "--minutes", "--interval", "--noise", "--picture"),
    "Options for the database": ("--data", "--database"),
}
# Words of the glossary that pages also use in their everyday sense. Pages do not link them.
EVERYDAY = {
    *("account", "answer", "ask", "audit", "budget", "cell", "control", "device", "estimates"),
    *("fix", "floor", "grace", "grid", "item", "length", "library", "limit", "link", "map alone"),
    *("method", "move", "outside", "pattern", "phase", "prior", "problem", "promise", "question"),
    *("recent", "release", "report", "round", "share", "slot", "step", "stream", "synthetic trip"),
    *("token", "trajectory", "trip", "unit", "window"),
}
CODE = "```.*?```|`[^`]*`"
# Where a word is no prose: code (also indented), links, headings, HTML, titles of boxes.
NO_PROSE = "|".join(
    (
        *(CODE, r"\[[^\]]*\]\([^)]*\)", r"^ *(?:#|!!!|\?\?\?|:::)[^\n]*", r"^ {4}[^\n]*"),
        *(r"<(?P<tag>div|svg)\b.*?</(?P=tag)>", "<[^>]+>"),
    )
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in the folder of the site."""
    for source, page in PAGES.items():
        text = _relinked((ROOT / source).read_text(encoding="utf-8"), source, page)
        files.append(File.generated(config, page, content=text))
    for source in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{source.stem}.md", content=notebook(source)))
    for name, source in results().items():
        files.append(File.generated(config, f"explanation/experiments/{name}.svg", content=drawing(source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Put what is made from elsewhere where a page has a comment for it, and show every block of code.

    The comments are `<!-- results: NAME -->` for an experiment and `<!-- commands -->`, which replaces the rest of its
    page. Words behind the language are
    for the tests of the examples: the site shows the name of a file as a title. Links to files outside `docs`, which
    work where the repository is read, lead to their pages.
    """
    source = f"docs/{page.file.src_uri}"
    shown = _relinked(markdown, source, page.file.src_uri) if (ROOT / source).is_file() else markdown
    shown = re.sub(r"<!-- results: ([a-z-]+) -->", lambda match: experiment(match.group(1)), shown)
    shown = re.sub(r"<!-- commands -->.*", lambda _: commands(), shown, flags=re.S)
    shown = re.sub(r"^( *```\w+) (?:end-of-)?file=(\S+)$", r'\1 title="\2"', shown, flags=re.M)
    shown = re.sub(r"^( *```\w+) elsewhere$", r"\1", shown, flags=re.M)
    return explained(shown, page.file.src_uri)


def explained(text: str, page: str) -> str:
    """A page on which each word of the glossary, where it first stands, shows its meaning and links to it.

    In the glossary itself the words become the targets of these links. The protocol explains its own words.
    """
    words = glossary()
    if page == "reference/glossary.md":
        return re.sub(r"^\| (\S.*?) \|", lambda row: f"| {_targets(row[1])}{row[1]} |", text, flags=re.M)
    if page == "reference/protocol-v1.md":
        return text
    linked = sorted(words.keys() - EVERYDAY, key=len, reverse=True)
    one_of = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in linked)
    seen: set[str] = set()

    def link(match: re.Match[str]) -> str:
        if not match["word"]:
            return match[0]
        word = " ".join(match["word"].split())
        meaning = words[word]
        if meaning in seen:
            return match[0]
        seen.add(meaning)
        target = f"{'../' * page.count('/')}reference/glossary.md#{_anchor(word)}"
        return f'[{match[0]}]({target} "{meaning}"){{.word}}'

    return re.sub(rf"{NO_PROSE}|(?<![\w-])(?P<word>{one_of})s?(?![\w-])", link, text, flags=re.S | re.M)


def glossary() -> dict[str, str]:
    """Every word of the glossary with its meaning, without links and emphasis."""
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S.*?) \| (.*?) \|$", text, flags=re.M)[1:]
    return {word: _plain(meaning).replace('"', "&quot;") for cell, meaning in rows for word in _words(cell)}


def _words(cell: str) -> list[str]:
    return _plain(cell).split(", ")


def _plain(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)|\*\*|`", lambda match: match[1] or "", text)


def _anchor(word: str) -> str:
    return re.sub(r"\W+", "-", word.lower()).strip("-")


def _targets(cell: str) -> str:
    return "".join(f'<span id="{_anchor(word)}"></span>' for word in _words(cell))


def results() -> dict[str, dict[str, Any]]:
    """What `ldptrace reproduce all --scale paper` wrote, by experiment."""
    folder = ROOT / "docs" / "results"
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def drawing(document: dict[str, Any]) -> str:
    """The figure of an experiment."""
    from ldptrace_lab.reproduce.experiments import EXPERIMENTS
    from ldptrace_lab.reproduce.figures import draw

    return draw(EXPERIMENTS[document["name"]], _rows(document), document["marks"])


def _rows(document: dict[str, Any]) -> list[Any]:
    """The rows of an experiment. What is undefined is null in its document."""
    from ldptrace_lab.reproduce.bench import Row

    rows = document["rows"]
    return [Row(**row | {"mean": math.nan if row["mean"] is None else row["mean"]}) for row in rows]


def experiment(name: str) -> str:
    """An experiment as a part of a page: what it asks, what came out, figure and numbers."""
    from ldptrace_lab.reproduce.experiments import EXPERIMENTS
    from ldptrace_lab.reproduce.tables import side_by_side
    from ldptrace_lab.tables import markdown

    document = results()[name]
    table = markdown(side_by_side(EXPERIMENTS[name], _rows(document)))
    parts = [
        f"*{document['source']}.* {document['question']}",
        "\n".join(f"- {sentence}" for sentence in document["remarks"]),
        f"![{document['title']}](experiments/{name}.svg)",
        '??? abstract "Numbers"\n\n' + "\n".join(f"    {line}" for line in table),
    ]
    return "\n\n".join(part for part in parts if part)


def notebook(source: Path) -> str:
    """The texts, the code and the outputs of a notebook as a page; the notebook itself is beside it."""
    parts = []
    for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"]).strip()
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
        parts += [_output(output) for output in cell.get("outputs", ())]
    return "\n\n".join([*parts, f"Download this page as a [Jupyter notebook]({source.name})."]) + "\n"


def _output(output: dict[str, Any]) -> str:
    """What a cell printed or drew. A block of HTML ends at an empty line, so it has none."""
    shown = output.get("data", {})
    if "text/html" in shown:
        lines = "".join(shown["text/html"]).splitlines()
        return "<div>" + "\n".join(line for line in lines if line.strip()) + "</div>"
    if "image/png" in shown:
        return f'<img alt="output" src="data:image/png;base64,{"".join(shown["image/png"]).strip()}">'
    return f"```text\n{''.join(shown.get('text/plain', output.get('text', ''))).rstrip()}\n```"


def _relinked(text: str, source: str, page: str) -> str:
    """Links of a document as they must be in its place in the site.

    Files outside the site become plain text in documents from outside; pages of the site have no such links.
    """
    up = "../" * page.count("/")

    def link(match: re.Match[str]) -> str:
        words, target = match["words"], match["target"]
        if not target:
            return match[0]
        name, hash_, anchor = target.partition("#")
        if not name or "://" in name:
            return match.group(0)
        path = os.path.relpath((ROOT / source).parent / name, ROOT)
        if path in PAGES:
            return f"[{words}]({up}{PAGES[path]}{hash_}{anchor})"
        if source.startswith("docs/"):
            return match.group(0)
        if path.startswith("docs/") and (ROOT / path).is_file():
            return f"[{words}]({up}{path.removeprefix('docs/')}{hash_}{anchor})"
        return words if match.group(0).startswith("[") else match.group(0)

    return re.sub(rf"{CODE}|\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)", link, text, flags=re.S)


def commands() -> str:
    """The command line's help as a page. Options that several commands share have their texts at its end."""
    from ldptrace.cli import application

    root: Any = typer.main.get_command(application())
    listed = [
        one
        for name in root.list_commands(None)
        for one in _listed(f"ldptrace {name}", root.get_command(None, name))
    ]
    frequent = Counter(row for _, _, rows in listed for row in rows).most_common()
    # An option with another text in one command, such as another default, keeps that text in this command.
    shared = {
        title: [next(row for row, _ in frequent if _name(row) == name) for name in names]
        for title, names in SHARED.items()
    }
    lines = []
    for name, text, rows in listed:
        lines += [f"## `{name}`", "", text, ""]
        own = [row for row in rows if not any(row in group for group in shared.values())]
        lines += _table(own) if rows else []
        for title, group in shared.items():
            if names := ", ".join(f"`{_name(row)}`" for row in group if row in rows):
                lines.append(f"| [{title}](#{title.lower().replace(' ', '-')}) | {names} |")
        lines.append("")
    lines += ["## Options that several commands share", ""]
    for title, group in shared.items():
        lines += [f"### {title}", "", *_table(group), ""]
    return "\n".join(lines)


def _listed(name: str, command: Any) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """A command and the commands below it: name, text, and the names and the text of each option."""
    text = (command.help or "").strip()
    if hasattr(command, "list_commands"):
        below = [(f"{name} {sub}", command.get_command(None, sub)) for sub in command.list_commands(None)]
        return [(name, text, []), *(one for sub in below for one in _listed(*sub))]
    context = command.make_context(name, [], resilient_parsing=True)
    records = [record for option in command.params if (record := option.get_help_record(context)) is not None]
    return [(name, text, [(" ".join(names.split()), " ".join(said.split())) for names, said in records])]


def _name(row: tuple[str, str]) -> str:
    """The long name of an option, such as `--bounds`, or the name of an argument."""
    return next((word for word in row[0].split() if word.startswith("--")), row[0])


def _table(rows: list[tuple[str, str]]) -> list[str]:
    """Options as a table. A bar within code is no border of a cell, and is shown as it is written."""
    lines = ["| option | meaning |", "|---|---|"]
    for names, text in rows:
        shown = re.sub(r"`[^`]*`|\|", lambda part: "\\|" if part[0] == "|" else part[0], text)
        lines.append(f"| `{names}` | {shown} |")
    return lines
