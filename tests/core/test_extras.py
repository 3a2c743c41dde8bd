from __future__ import annotations

import json

import pytest

from ldptrace.core.extras import needed
from ldptrace.errors import InputError


def test_a_missing_package_names_the_extra() -> None:
    assert needed("json") is json
    with pytest.raises(
        InputError,
        match=r"^no_such_package is needed for this; install it with: pip install 'ldptrace\[planning\]', or in a "
        r"clone of the repository with: pip install '\.\[planning\]'$",
    ):
        needed("no_such_package", "planning")
