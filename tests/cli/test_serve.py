from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.cli.serve import database_of, missing
from ldptrace.errors import InputError


def test_a_folder_or_an_address_but_not_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no campaigns in"):
        database_of(tmp_path / "data", None)
    assert not (tmp_path / "data").exists()
    database_of(tmp_path / "data", None, new=True).close_all()
    assert (tmp_path / "data").is_dir()
    with pytest.raises(InputError, match="not both"):
        database_of(tmp_path, "postgresql://host/name")


def test_addresses_of_other_databases_are_refused_without_their_secrets() -> None:
    with pytest.raises(InputError, match="got mysql://") as caught:
        database_of(None, "mysql://me:secret@host/name")
    assert "secret" not in str(caught.value)


def test_a_missing_extra_says_what_to_install() -> None:
    error = missing(ImportError("no", name="starlette"))
    assert str(error).startswith(
        "this command needs the extra \"server\" (starlette); install it with: pip install 'ldptrace[server]', or in"
    )
