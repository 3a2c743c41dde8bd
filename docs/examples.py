"""Examples in docstrings as code: what follows `>>>` is fenced, so that brackets are not read as links."""

from __future__ import annotations

import re
from typing import Any

import griffe

# A run of lines from a prompt to the next empty line.
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.M)


class FencedExamples(griffe.Extension):
    """Fences the examples of every object that is documented."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found.group(0)}\n```", obj.docstring.value
            )
