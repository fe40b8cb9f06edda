"""What passes say of themselves: their options and what they keep; and other things that
are as they are because somebody said so: limits, flags."""

from __future__ import annotations

from dataclasses import asdict
from enum import Flag
from pathlib import Path
from typing import Any

from gallette.compiler.debug import FLAGS
from gallette.compiler.link.limits import Limits
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.run.pass_runner import get_pass
from gallette.compiler.nir.run.reference import own_passes
from tests.cases import sections


def written(name: str) -> dict[str, str]:
    """The facts of a section."""
    cases = sections(Path(__file__).with_name("facts.txt"))[name].cases
    return {case.text: case.answer for case in cases}


def names(flags: Flag) -> str:
    return "|".join(str(flag.name) for flag in flags) or "NONE"


def of_pass(name: str) -> str:
    info = get_pass(name)
    words = [names(info.preserves), *["inexact"] * (not info.exact)]
    words += ["idempotent"] * info.idempotent
    for option, value in info.options.items():
        words.append(f"{option}={names(Mode(value)) if option == 'modes' else repr(value)}")
    return ", ".join(words)


def test_what_passes_keep_and_their_options() -> None:
    assert {name: of_pass(name) for name in own_passes()} == written("passes")


def test_limits() -> None:
    def text(value: Any) -> str:
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    assert {k: text(v) for k, v in asdict(Limits()).items()} == written("limits")


def test_flags() -> None:
    assert {name: ", ".join(flag.values) for name, flag in FLAGS.items()} == written("flags")
