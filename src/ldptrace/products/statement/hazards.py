"""Answers to the hazards that NIST SP 800-226 asks about differential-privacy guarantees."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from ldptrace.products.statement.promise import Operator, Promise


def hazards(promise: Promise, operator: Operator, version: str) -> str:
    """Return a page of questions and answers, in Markdown."""

    def about(word: str) -> str | None:
        """Return the sentence of the promise that mentions a topic."""
        return next((sentence for sentence in promise.weaker if word in sentence), None)

    text = files(__package__).joinpath("hazards.md").read_text(encoding="utf-8")
    # Markdown has nothing to escape.
    markdown = Environment(
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return markdown.from_string(text).render(
        promise=promise, product=operator.product, version=version, about=about
    )
