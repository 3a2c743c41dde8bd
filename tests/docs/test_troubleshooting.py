"""The page about troubleshooting against the source: each message it shows is one that the program can print."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ldptrace.protocol.problems import Problem
from ldptrace.web.problems import ServerProblem

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text(encoding="utf-8")
# Problems of a single HTTP request, which nobody meets who uses a client of ours.
REQUESTS = {
    "bad-request",
    "body-too-large",
    "campaign-exists",
    "head-too-large",
    "method-not-allowed",
    "too-slow",
    "unsupported-media-type",
}


def flat(node: ast.AST) -> str:
    """A text of the source, with a mark where a value is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(flat(part) for part in node.values)
    return "\0"


def sources() -> str:
    """All texts of the package."""
    texts = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
        }
        texts += [
            flat(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in inner
        ]
    return "\n".join(texts)


def first_columns(heading: str) -> list[str]:
    """What stands in code in the first column of the tables with this heading."""
    rows = re.findall(rf"^\| {heading} \|.*\n\|---.*\n((?:\|.*\n)+)", PAGE, re.M)
    return [
        text for table in rows for cell in re.findall(r"^\| (.*?) \|", table, re.M) for text in codes(cell)
    ]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_message_is_one_of_the_program() -> None:
    source, messages = sources(), first_columns("message")
    assert len(messages) > 25
    for message in messages:
        # Letters alone stand for values.
        pieces = [piece.strip() for piece in re.split(r"\b[NX]\b", message) if len(piece.split()) > 1]
        assert pieces, message
        assert all(piece in source for piece in pieces), message


def test_every_refusal_is_explained_once() -> None:
    explained = first_columns("code")
    problems = {problem.code for problem in (*Problem, *ServerProblem)}
    assert sorted(explained) == sorted(problems - REQUESTS)
