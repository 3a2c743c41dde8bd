from __future__ import annotations

import json
import logging
import sys

from ldptrace.server.logs import JsonLines


def line(error: bool = False) -> dict[str, str]:
    """What is written of a record, with an error that holds somebody's value."""
    info = None
    if error:
        try:
            raise ValueError("13.4, 52.5")
        except ValueError:
            info = sys.exc_info()
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "read %s\nlines", (3,), info)
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, str] = json.loads(text)
    return found


def test_a_record_is_one_line() -> None:
    entry = line()
    assert (entry["level"], entry["message"]) == ("warning", "read 3\nlines")
    assert entry["at"].endswith("+00:00")


def test_an_error_is_told_without_its_values() -> None:
    entry = line(error=True)
    assert entry["error"] == "ValueError"
    assert entry["where"].startswith("test_logs.py:")
    assert entry["where"].endswith(" line")
    assert "13.4" not in json.dumps(entry)
