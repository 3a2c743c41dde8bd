from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer
from typer.testing import CliRunner

from ldptrace.cli.options import with_options
from ldptrace.errors import InputError
from ldptrace.options import option, settle


def _places(given: str | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(int, given.split(","))) if isinstance(given, str) else given


@dataclass(frozen=True)
class Walk:
    steps: int = option(help="Number of steps.")
    pace: Literal["slow", "fast"] = option("slow", help="How fast.")
    way_back: bool = option(False, help="And back.")
    places: tuple[int, ...] | None = option(None, metavar="A,B", help="Places.", parse=_places)

    def __post_init__(self) -> None:
        settle(self)


def call(*arguments: str, **options: Any) -> Any:
    """What a command with the options of `Walk` was given, or what typer said."""
    given: list[Any] = []

    @with_options(walk=Walk, **options)
    def command(
        name: Annotated[str, typer.Argument()],
        walk: Walk,
        loud: Annotated[bool, typer.Option("--loud")] = False,
    ) -> None:
        given.extend((name, walk, loud))

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, InputError):
        raise result.exception
    return given or result.output


def test_a_command_gets_the_record() -> None:
    assert call("me", "--steps", "3") == ["me", Walk(3), False]
    found = call("me", "--steps", "3", "--pace", "fast", "--way-back", "--places", "4,5", "--loud")
    assert found == ["me", Walk(3, "fast", True, (4, 5)), True]


def test_a_record_that_need_not_be_complete() -> None:
    assert call("me", partial=("walk",)) == ["me", {}, False]
    assert call("me", "--pace", "fast", partial=("walk",)) == ["me", {"pace": "fast"}, False]


def test_options_can_be_omitted() -> None:
    assert "no such option" in call("me", "--steps", "3", "--pace", "fast", without=("pace",)).lower()


def test_the_help_has_the_texts_of_the_record() -> None:
    shown = call("--help")
    assert all(text in shown for text in ("Number of steps.", "--way-back", "A,B", "[required]", "slow|fast"))


def test_what_is_missing_or_wrong() -> None:
    assert "Missing option '--steps'" in call("me")
    assert "not one of" in call("me", "--steps", "3", "--pace", "quick")
