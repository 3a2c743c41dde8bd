"""The guide of two operators, followed by two people in two folders."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ldptrace.shuffler.app import ROUTES
from ports_kit import free_port

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "shuffle.md"


WHO = {"1": "curator", "2": "shuffler", "3": "devices", "4": "both"}


def blocks() -> list[tuple[str, str]]:
    """Who types what, in the order of the page: the numbered sections have one block each."""
    found = re.findall(r"^## (\d)\..*?^```bash\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert [number for number, _ in found] == list(WHO)
    return [(WHO[number], text) for number, text in found]


@pytest.mark.slow
def test_two_people_follow_the_guide(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "ldptrace"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ldptrace "$@"\n')
    program.chmod(0o755)
    ports = {"8000": str(free_port()), "8001": str(free_port())}
    curator, shuffler = tmp_path / "one", tmp_path / "two"
    places = {"curator": curator, "shuffler": shuffler, "devices": shuffler, "both": shuffler}
    for folder in (curator, shuffler):
        folder.mkdir()
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "COLUMNS": "200"}
    running: list[subprocess.Popen[bytes]] = []
    said: dict[str, str] = {}
    try:
        for who, text in blocks():
            for port, free in ports.items():
                text = text.replace(f":{port}", f":{free}").replace(f"--port {port}", f"--port {free}")
            # A reader has three minutes.
            text = text.replace("23:57:00", "23:59:30")
            if who == "shuffler":
                # What the curator sends to the shuffler.
                (shuffler / "token").write_bytes((curator / "token").read_bytes())
                wait(curator / "curator" / "campaigns.sqlite")
            if who == "both":
                text = text.replace("--data curator", f"--data {curator / 'curator'}")
                until_sent(shuffler, environment)
            for line in text.replace("\\\n", " ").splitlines():
                if line.endswith("&"):
                    quiet = subprocess.DEVNULL
                    command = ["sh", "-c", f"exec {line[:-1]}"]
                    running.append(
                        subprocess.Popen(
                            command, cwd=places[who], env=environment, stdout=quiet, stderr=quiet
                        )
                    )
                    time.sleep(2)
                else:
                    done = subprocess.run(
                        line,
                        shell=True,
                        cwd=places[who],
                        env=environment,
                        capture_output=True,
                        text=True,
                        timeout=120,
                    )
                    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
                    said[line.split(" --")[0]] = done.stdout + done.stderr
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(30)
    assert "sent  300 reports" in said["ldptrace shuffle show"]
    assert (
        "300 reports, 300 counted, 270 taken to be honest: central epsilon"
        in said["ldptrace campaign show trips"]
    )
    # The other one's folder holds no key and no report.
    assert not list(shuffler.rglob("campaigns.sqlite"))
    assert not list(curator.rglob("shuffler.sqlite"))


def test_the_reference_lists_the_addresses_of_the_shuffler() -> None:
    page = (PAGE.parents[1] / "reference" / "server.md").read_text()
    for method, path, _ in ROUTES:
        shown = path.replace("{plan}", "ID").replace("{window:window}", "K")
        # Pages ask for their own files, and the text of the protocol says what OPTIONS answers.
        assert method == "OPTIONS" or path.startswith("/assets/") or f"`{method} {shown}`" in page, path


def wait(path: Path) -> None:
    end = time.monotonic() + 30
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.1)


def until_sent(folder: Path, environment: dict[str, str]) -> None:
    """Until the shuffler has sent its batch."""
    command = ["ldptrace", "shuffle", "show", "--data", "shuffler"]
    end = time.monotonic() + 90
    while time.monotonic() < end:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        if "  sent  " in done.stdout:
            return
        time.sleep(1)
    raise AssertionError(done.stdout)
