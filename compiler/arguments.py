"""The argument parser of every command: its help, and one message for each mistake.

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
import shutil
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from gallette.compiler.errors import GalletteError, InputError

_NUMBERS = re.compile(r"^-\d[\d.]*(,-?\d[\d.]*)*$")


def invocation(action: argparse.Action) -> str:
    """How an argument is written: `-o, --output DIR`, `PATH`."""
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if not action.option_strings:
        return name
    if action.choices is not None and action.metavar is None:
        name = "{" + ",".join(map(str, action.choices)) + "}"
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {name}"


_REPEATS = {
    argparse.OPTIONAL: "[{}]",
    argparse.ZERO_OR_MORE: "[{}...]",
    argparse.ONE_OR_MORE: "{}...",
    argparse.REMAINDER: "{} [ARGUMENT...]",
    argparse.PARSER: "{} ...",
}


def synopsis(prog: str, actions: Iterable[argparse.Action]) -> str:
    """The line that says how a command is called: `gallette diff [OPTIONS] [SCENE...]`.

    Options that may be left out are not listed: the help lists them just below.
    """
    words = [prog]
    shown = [each for each in actions if each.help != argparse.SUPPRESS]
    if any(each.option_strings and not each.required for each in shown):
        words.append("[OPTIONS]")
    words += [invocation(each).split(", ")[-1] for each in shown
              if each.option_strings and each.required]  # fmt: skip
    words += [_REPEATS.get(each.nargs, "{}").format(invocation(each))  # type: ignore[arg-type]
              for each in shown if not each.option_strings]  # fmt: skip
    return " ".join(words)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as `git` and `cargo` print it: one line of usage, options as `-o, --output DIR`."""

    def __init__(self, prog: str, **_: Any) -> None:
        width = min(shutil.get_terminal_size().columns, 100) - 2
        super().__init__(prog, max_help_position=28, width=width)

    def _format_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None,
    ) -> str:
        del groups
        line = usage or synopsis(self._prog, actions)
        return f"{'usage: ' if prefix is None else prefix}{line}\n\n"

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return invocation(action)


class ArgumentParser(argparse.ArgumentParser):
    """An `argparse` parser whose errors are `GalletteError`s, raised by the parser concerned.

    `argparse` lets a sub-command's unknown options travel up to the top, which then names itself;
    here the sub-command reports them, because it knows which options are spelled alike.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", _Help)
        super().__init__(*args, **kwargs)
        self._positionals.title = "arguments"
        self._negative_number_matcher = _NUMBERS  # `-1,0` is a pixel, not an option

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._unknown(rest))
        return found, rest

    def _unknown(self, rest: Sequence[str]) -> str:
        word = rest[0]
        if not word.startswith("-"):
            return f"unexpected argument {word!r}"
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
