"""The site builds offline and strictly: no broken link, no missing page, nothing loaded from elsewhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = ("*.md", "docs/**/*.md", "protocol/*.md", "clients/*/README.md")
# A link or a picture; code in backticks has none.
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def test_every_link_leads_to_a_file_of_the_repository() -> None:
    """Pages are read on the site and in the repository: a page that only the site has is linked by its source."""
    for text in sorted(path for pattern in TEXTS for path in ROOT.glob(pattern)):
        shown = re.sub(r"```.*?```|`[^`\n]*`", "", text.read_text(encoding="utf-8"), flags=re.S)
        targets = [target for target in LINK.findall(shown) if "://" not in target]
        assert [target for target in targets if not (text.parent / target).exists()] == [], text


def every_page_is_there_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        made = site / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert made.is_file(), made
    for made in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"', made.read_text(encoding="utf-8")
        )
        loaded += re.findall(
            r'<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"', made.read_text(encoding="utf-8")
        )
        assert not loaded, (made.name, loaded)


def search_needs_no_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = {")
    assert 'src="assets/iframe-worker.js"' in (site / "index.html").read_text(encoding="utf-8")


def a_notebook_shows_its_outputs(site: Path) -> None:
    assert "<svg" in (site / "notebooks" / "city.html").read_text(encoding="utf-8").split("</header>", 1)[1]


def commands_and_names_are_in_the_reference(site: Path) -> None:
    import ldptrace

    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    names = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert all(f"ldptrace {name}" in commands for name in ("synthesize", "fit", "sample", "plan", "report"))
    assert [name for name in ldptrace.__all__ if f"ldptrace.{name}" not in names] == []


def every_block_of_code_is_shown_as_one(site: Path) -> None:
    for made in site.rglob("*.html"):
        text = re.sub(r"<pre>.*?</pre>", "", made.read_text(encoding="utf-8"), flags=re.S)
        assert "```" not in text, made.name
        assert not re.search(r"<code>(sh|python|console|text|toml)\b[^<]*\n", text), made.name


def code_of_the_protocol_is_shown_as_it_is_written(site: Path) -> None:
    """Patterns look like links and like the bars of tables; a client is written from what the page shows."""
    written = (ROOT / "protocol" / "v1.md").read_text(encoding="utf-8")
    shown = html.unescape((site / "reference" / "protocol-v1.html").read_text(encoding="utf-8"))
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", written, flags=re.S))
    assert [span for span in spans if f"<code>{span}</code>" not in shown] == []


@pytest.mark.slow
def test_the_site(tmp_path: Path) -> None:
    """One test, so that the site is built once and not in every process of the tests."""
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=quiet,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    every_page_is_there_and_loads_nothing_from_elsewhere(tmp_path)
    search_needs_no_server(tmp_path)
    a_notebook_shows_its_outputs(tmp_path)
    commands_and_names_are_in_the_reference(tmp_path)
    every_block_of_code_is_shown_as_one(tmp_path)
    code_of_the_protocol_is_shown_as_it_is_written(tmp_path)
