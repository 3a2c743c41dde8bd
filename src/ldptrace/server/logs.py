"""Structured logs: one JSON object per line on stderr. No address, no token, nothing about a single report."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
            entry["where"] = self._place(record)
        return json.dumps(entry, ensure_ascii=True)

    @staticmethod
    def _place(record: logging.LogRecord) -> str:
        """Where an error was raised. Its values, which could be somebody's, are left out."""
        trace = record.exc_info[2] if record.exc_info else None
        place = ""
        while trace is not None:
            code = trace.tb_frame.f_code
            place = f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}"
            trace = trace.tb_next
        return place


def configure() -> None:
    """Logs of the server and of uvicorn as JSON; no access log, which would hold addresses and times."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("ldptrace.server", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.setLevel(logging.INFO)
        logger.propagate = name == "uvicorn.error"
    logging.getLogger("uvicorn.access").disabled = True
