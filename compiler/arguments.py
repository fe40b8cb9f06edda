"""The argument parser of every tool: a mistake becomes one message with a suggestion.

>>> parser = ArgumentParser(prog="gallette diff")
>>> _ = parser.add_argument("--html")
>>> parser.parse_args(["--htlm", "x"])
Traceback (most recent call last):
gallette.compiler.errors.GalletteError: gallette diff: there is no option --htlm; \
did you mean --html? (try gallette diff --help)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from gallette.compiler.errors import GalletteError, InputError

__all__ = ["ArgumentParser", "read_source"]


_NUMBERS = re.compile(r"^-\d[\d.]*(,-?\d[\d.]*)*$")


class ArgumentParser(argparse.ArgumentParser):
    """An `argparse` parser whose errors are `GalletteError`s, raised by the parser concerned.

    `argparse` passes a sub-command's unknown options up to the main parser, which reports them
    under its own name; here the sub-command reports them, because it can suggest one of its
    options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._negative_number_matcher = _NUMBERS  # `-1,0` is a coordinate, not an option

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._unknown(rest))
        return found, rest

    def _unknown(self, rest: Sequence[str]) -> str:
        word = rest[0]
        if not word.startswith("-"):
            return f"what is {word!r}? There are more arguments than it takes"
        name = word.partition("=")[0]
        close = get_close_matches(name, self._option_string_actions, 1)
        return f"there is no option {name}" + (f"; did you mean {close[0]}?" if close else "")

    def error(self, message: str) -> NoReturn:
        raise GalletteError(f"{self.prog}: {message} (try {self.prog} --help)")


def read_source(name: str) -> tuple[str, str]:
    """The text of a file, or of standard input for `-`, and the name to use in messages."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace"), "<stdin>"
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace"), name
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot read: {error.strerror or error}") from None
