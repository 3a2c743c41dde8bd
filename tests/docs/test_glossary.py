"""Pages explain the words of the glossary where they first use them."""

from __future__ import annotations

import pytest

from site_kit import hooks

pytest.importorskip("mkdocs")


def test_the_first_use_of_a_word_shows_its_meaning_and_links_to_it() -> None:
    page = hooks().explained("A ledger. All ledgers.", "how-to/device.md")
    meaning = hooks().glossary()["ledger"]
    assert page == f'A [ledger](../reference/glossary.md#ledger "{meaning}"){{.word}}. All ledgers.'


def test_a_longer_word_goes_before_a_shorter_one_across_the_end_of_a_line() -> None:
    page = hooks().explained("Two standing\nplans, one plan.", "index.md")
    assert page.startswith("Two [standing\nplans](reference/glossary.md#standing-plan ")
    assert ", one [plan](reference/glossary.md#plan " in page


def test_words_of_one_meaning_are_linked_once() -> None:
    page = hooks().explained("epsilon, eps", "index.md")
    assert page.count("{.word}") == 1


@pytest.mark.parametrize(
    "text",
    [
        "`ledger`",
        "```sh\nledger\n```",
        "The formula:\n\n    ledger",
        "## The ledger",
        "[the ledger](a.md)",
        '<img alt="ledger">',
        "<div>\nledger\n</div>",
        "ledgers-to-be",
    ],
)
def test_code_links_headings_and_html_stay_as_they_are(text: str) -> None:
    assert hooks().explained(text, "index.md") == text


def test_the_glossary_has_a_target_for_every_word() -> None:
    page = hooks().explained(
        "| word | meaning |\n|---|---|\n| **epsilon, eps** | a bound |", "reference/glossary.md"
    )
    assert '<span id="epsilon"></span><span id="eps"></span>**epsilon, eps** |' in page


def test_every_everyday_word_is_in_the_glossary() -> None:
    assert hooks().EVERYDAY - hooks().glossary().keys() == set()
