from __future__ import annotations

import pytest

from ldptrace.web.assets import asset_answer, assets
from ldptrace.web.problems import Refused


def test_pages_and_the_client_are_there() -> None:
    assert {"contributor.html", "contributor.js", "client/index.js", "client/src/seals.js"} <= set(assets())
    assert asset_answer("style.css").media_type == "text/css"


@pytest.mark.parametrize("name", ["", "nothing.js", "../app.py", "client/package.json"])
def test_nothing_else_is_read(name: str) -> None:
    with pytest.raises(Refused):
        asset_answer(name)
