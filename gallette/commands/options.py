"""The table of commands, and how their arguments are declared: `commands.txt`, which says how."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.text_tables import table_rows

_TITLE = re.compile(r"(==|--) (?P<name>[\w-]+)(?: \((?P<module>[\w.]+)\))?: (?P<help>.*)")
_VALUE = re.compile(r"(?P<word>.*?)(?::(?P<type>\w+|\{\w+\}))?(?P<often>[?*+!]?)")
_NAME = re.compile(r"\{(\w+)\}")


@lazy_dataclass()
class Command:
    """One command, or an action of it: its module, its line in the list, what its help shows.

    The module has `run`; the docstring of a command's module begins its help, `text` an action's.
    """

    module: str
    help: str
    text: str = ""
    examples: str = ""
    options: list[str] = field(default_factory=list)
    actions: dict[str, Command] = field(default_factory=dict)


def read_commands() -> dict[str, dict[str, Command]]:
    """The commands by group."""
    groups: dict[str, dict[str, Command]] = {}
    shared: dict[str, list[str]] = {}
    group, command, options = "", Command("", ""), list[str]()
    for line in table_rows(Path(__file__).with_name("commands.txt")):
        title = _TITLE.fullmatch(line)
        if line.startswith("[["):
            group = line.strip("[]")
        elif title:
            module = title["module"] or f"gallette.commands.{title['name'].replace('-', '_')}"
            made = Command(module, title["help"])
            if title[1] == "==":
                groups.setdefault(group, {})[title["name"]] = whole = made
            else:
                whole.actions[title["name"]] = made
            command, options = made, made.options
        elif line.startswith("@ "):
            options = shared[line[2:]] = []
        elif line.startswith("@"):
            options += shared[line[1:]]
        elif line.startswith("$ "):
            command.examples += f"\n{line[2:]}" if command.examples else line[2:]
        elif line.startswith("|"):
            command.text += f"\n{line[2:]}" if command.text else line[2:]
        elif line.startswith(" "):
            options[-1] += ("" if "  " in options[-1] else " ") + " " + line.strip()
        else:
            options.append(line)
    return groups


def declare(parser: argparse.ArgumentParser, command: Command, values: Mapping[str, Any]) -> None:
    """Add the arguments of a command; `values` are those of its module."""
    known = {**VALUES, **values}
    into: argparse.ArgumentParser | argparse._ArgumentGroup = parser
    for line in command.options:
        if line.startswith("["):
            into = parser.add_argument_group(line.strip("[]"))
        else:
            names, given = _argument(line, known)
            into.add_argument(*names, **given)
    if command.actions:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, action in command.actions.items():
            made = actions.add_parser(
                name, help=action.help, description=action.text, epilog=examples(action.examples)
            )
            declare(made, action, values)


def examples(text: str) -> str:
    """Examples as help shows them."""
    return "examples:\n" + "\n".join(f"  {line}" for line in text.splitlines())


def _argument(line: str, values: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """The names of an argument, and the keywords of `add_argument` for it."""
    head, _, help = line.partition("  ")
    words = head.split()
    names = [word.strip(",") for word in words if word.startswith("-")] or words[:1]
    is_option = names[0].startswith("-")
    rest = iter(words[len(names) :])
    given: dict[str, Any] = {"help": _NAME.sub(lambda n: _shown(n, values), help.strip())}
    for word in rest:
        if word == "=":
            given["default"] = next(rest)
        elif word == ">":
            given["dest"] = next(rest)
        else:
            given |= _value(word, is_option, values)
    if is_option and not given.keys() - {"help", "dest"}:
        given["action"] = "store_true"
    if isinstance(default := given.get("default"), str):
        name, kind = _NAME.fullmatch(default), given.get("type", str)
        plain = int if kind is natural else kind  # of which 0 is none
        given["default"] = values[name[1]] if name else plain(default.strip("'"))
    return names, given


def _value(word: str, is_option: bool, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the word for a value says."""
    found = _VALUE.fullmatch(word)
    assert found is not None
    given: dict[str, Any] = {}
    for part in (found["word"], found["type"] or ""):
        if name := _NAME.fullmatch(part):
            given["choices"] = values[name[1]]
        elif part.startswith("{"):
            given["choices"] = tuple(part.strip("{}").split(","))
    if not found["word"].startswith("{"):
        given["metavar"] = found["word"]
    if found["type"] == "rest":
        given["nargs"] = argparse.REMAINDER
    elif found["type"] and "choices" not in given:
        given["type"] = values[found["type"]]
    if found["often"] == "!":
        given["required"] = True
    elif found["often"] == "*" and is_option:
        given |= {"action": "append", "default": []}
    elif found["often"]:
        given["nargs"] = found["often"]
    return given


def _shown(name: re.Match[str], values: Mapping[str, Any]) -> str:
    value = values.get(name[1], name[0])
    return value if isinstance(value, str) else ", ".join(value)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def seconds(text: str) -> float:
    """A time limit, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; use seconds, such as 10")
    return value


def natural(text: str) -> int:
    """A number of 1 or more, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)


VALUES: dict[str, Any] = {
    "float": float,
    "int": int,
    "natural": natural,
    "none": frozenset(),
    "number": _number,
    "path": Path,
    "processors": os.cpu_count() or 1,
    "seconds": seconds,
}
"""types, and what `{name}` stands for in the options of every command"""
