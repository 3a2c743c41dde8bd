"""What an installed package holds: the pages, the interface, and the browser client that the pages run."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from ldptrace.protocol.questions import QUESTIONS
from ldptrace.web.app import FOLDER, assets
from server_kit import REPOSITORY, Server, texts

pytestmark = pytest.mark.slow


def test_the_wheel_holds_the_pages_and_the_client(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"ldptrace/server/assets/{name}" for name in assets()}
    assert wanted <= names


def test_pages_load_nothing_from_elsewhere() -> None:
    for name, data in assets().items():
        text = data.decode()
        assert not re.search(r"(?:src|href|from|import|url\()\s*=?\s*[\"'(]?(?:https?:)?//", text), name
        for loaded in re.findall(r"(?:src|href)=\"(/[^\"]+)\"", text):
            assert loaded.removeprefix("/assets/") in assets(), (name, loaded)


def test_container_files_start_what_there_is() -> None:
    container = (REPOSITORY / "deploy" / "Containerfile").read_text()
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", container, re.MULTILINE):
        for path in copied.split():
            assert (REPOSITORY / path).exists(), path
    compose = (REPOSITORY / "deploy" / "compose.yaml").read_text()
    assert "LDPTRACE_DATABASE: postgresql://" in compose
    assert "dockerfile: deploy/Containerfile" in compose


def test_two_operators_start_a_container_each(tmp_path: Path) -> None:
    document = yaml.safe_load((REPOSITORY / "deploy" / "shuffled.yaml").read_text())
    assert list(document["services"]) == list(document["volumes"]) == ["curator", "shuffler"]
    for (name, service), (port, ready) in zip(
        document["services"].items(), (("8000", "/readyz"), ("8001", "/healthz")), strict=True
    ):
        assert service["profiles"] == [name]
        # What one has is not mounted by the other.
        assert service["volumes"] == [f"{name}:/data"]
        assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
        assert (REPOSITORY / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).exists()
        command, *given = [re.sub(r"\$\{\w+:-(.*)\}", r"\1", text) for text in service["command"]]
        folder = tmp_path / name
        server = Server([text.replace("/data", str(folder)) for text in given], command=command, ready=ready)
        server.start()
        try:
            # The container of the curator has the check of the image.
            if "healthcheck" in service:
                check = service["healthcheck"]["test"][-1].replace(port, str(server.port))
                subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
        finally:
            server.stop()
        assert list(folder.glob("*.sqlite"))


def test_every_language_has_every_text_with_the_same_gaps() -> None:
    def flat(block: dict[str, Any], before: str = "") -> dict[str, str]:
        found: dict[str, str] = {}
        for key, value in block.items():
            found |= flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
        return found

    languages = {code: flat(block) for code, block in texts().items()}
    assert set(languages) == {"en", "de"}
    gaps = {
        code: {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in block.items()}
        for code, block in languages.items()
    }
    assert gaps["en"] == gaps["de"]
    page = (FOLDER / "contributor.html").read_text()
    assert set(re.findall(r'data-say="(\w+)"', page)) <= set(languages["en"])
    # Every question of the protocol has a name here.
    assert {f"questions.{name}" for name in QUESTIONS} <= set(languages["en"])
