"""Devices that are asked line by line: this repository's own, or any client that a command starts.

A line is a JSON object with a plan, trips and a clock, and so is its answer (docs/how-to/audit-a-client.md). Ledgers
with names are kept in a folder, so that a client that is started again finds them.
"""

from __future__ import annotations

import json
import math
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from ldptrace.audit.system import Points
from ldptrace.device.lines import Lines
from ldptrace.errors import InputError

# Where the command has this, the folder of the ledgers stands.
FOLDER = "{ledgers}"
# Reports that one line asks for.
MOST = 500

Json = dict[str, Any]


class OwnDevice:
    """The client of this package, in this process."""

    name = "ldptrace.device"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.restart()

    def ask(self, line: Json) -> Json:
        return self._lines.answer_to(line)

    def restart(self) -> None:
        self._lines = Lines(self._folder)


class CommandDevice:
    """A client that a command starts."""

    def __init__(self, command: str, folder: Path) -> None:
        if FOLDER not in command:
            raise InputError(
                f"the command of a device names the folder of its ledgers as {FOLDER}, got {command!r}"
            )
        self.name, self._folder = command, folder
        self._words = [word.replace(FOLDER, str(folder)) for word in shlex.split(command)]
        self._process = self._started()

    def ask(self, line: Json) -> Json:
        self.send(line)
        return self.receive()

    def send(self, line: Json) -> None:
        """Ask without waiting for the answer."""
        try:
            pipe = _pipe(self._process.stdin)
            pipe.write(json.dumps(_plain(line)) + "\n")
            pipe.flush()
        except BrokenPipeError:
            raise self._gone() from None

    def receive(self) -> Json:
        text = _pipe(self._process.stdout).readline()
        if not text:
            raise self._gone()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise InputError(f"the device {self.name!r} must answer with a JSON object, got {text[:80]!r}")
        return answer

    def restart(self) -> None:
        """Kill the client and start it again: what is not on the disk is lost."""
        self.close()
        self._process = self._started()

    def twin(self) -> CommandDevice:
        """Start another process of the same client with the same ledgers."""
        return CommandDevice(self.name, self._folder)

    def __enter__(self) -> CommandDevice:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _started(self) -> subprocess.Popen[str]:
        try:
            return subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            raise InputError(f"the device {self.name!r} cannot be started: {error.strerror}") from None

    def _gone(self) -> InputError:
        return InputError(f"the device {self.name!r} ended before it answered, status {self._process.poll()}")


# Something that answers lines.
Device = OwnDevice | CommandDevice


def reports_of(device: Device, line: Json, count: int) -> list[bytes]:
    """Ask this many devices with new ledgers for their reports. A refusal is an error."""
    reports: list[bytes] = []
    while len(reports) < count:
        answer = device.ask(line | {"count": min(MOST, count - len(reports))})
        if not answer.get("reports"):
            raise InputError(f"the device {device.name!r} must answer, got {json.dumps(answer)[:200]}")
        reports += map(bytes.fromhex, answer["reports"])
    return reports


def trip_lines(trips: Sequence[Points], arrivals: Sequence[float] = ()) -> list[Json]:
    """Return trips in the form that lines have.

    >>> trip_lines([[(1.0, 2.0)]])
    [{'points': [(1.0, 2.0)], 'arrival': None}]
    """
    ends: list[float | None] = [*arrivals] or [None for _ in trips]
    return [{"points": points, "arrival": end} for points, end in zip(trips, ends, strict=True)]


def _plain(value: Any) -> Any:
    """Return the same without numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
