"""What a person may choose about trips on a map."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.models.routes.options import StreetOptions


def test_trips_may_leave_the_streets_unless_somebody_objects() -> None:
    assert StreetOptions().may_leave
    assert not StreetOptions(off_streets="never").may_leave
    with pytest.raises(InputError, match="off-streets must be auto or never, got 'sometimes'"):
        StreetOptions(off_streets="sometimes")  # type: ignore[arg-type]
