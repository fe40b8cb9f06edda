"""The `gallette` command: makes the parser of a command from the table, runs it, reports errors.

A command's module is imported when the command runs, so that `gallette --help` answers at once.
Exit status: 0 success, 1 a test or comparison failed, 2 wrong use (one message, no traceback), 130
interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence

from gallette.commands.options import declare, examples, read_commands
from gallette.compiler.arguments import ArgumentParser
from gallette.compiler.errors import GalletteError, print_message
from gallette.terminal import guarded

GROUPS = read_commands()
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def _environment() -> str:
    """The variables that most users need, and the table of debug flags."""
    from gallette.compiler.debug import FLAGS
    from gallette.compiler.environment import VARIABLES

    lines = ["environment:"]
    lines += [f"  {v.name:<18}{v.brief}" for v in VARIABLES.values() if v.brief]
    lines += ["", "debug flags:"]
    for flag in FLAGS.values():
        gap = "\n" + " " * 29 if len(flag.spelling) > 26 else " " * (27 - len(flag.spelling))
        lines.append(f"  {flag.spelling}{gap}{flag.doc}")
    return "\n".join(lines)


def _top_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    lists = [
        "\n".join([f"{title}:", *(f"  {name:<{width}}  {c.help}" for name, c in group.items())])
        for title, group in GROUPS.items()
    ]
    parser = ArgumentParser(
        prog="gallette",
        usage="gallette COMMAND [ARGUMENT...]",
        description="OpenGL 4.6 in pure Python on NumPy: run programs and tests without a GPU, "
        "compare\ndrivers pixel by pixel, and look inside.\n\n" + "\n\n".join(lists),
        epilog=examples(
            "gallette run --save picture.png my_program.py\n"
            "gallette diff shadow_map --against native --html reports/diff\n"
            "gallette explain shader.frag\n"
            "gallette inspect shadow_map"
        )
        + f"\n\n{_environment()}\n\n`gallette COMMAND --help` describes a command.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


def command_parser(name: str) -> ArgumentParser:
    """The parser of a command; imports the command's module, which takes time."""
    command = COMMANDS[name]
    module = importlib.import_module(command.module)
    parser = ArgumentParser(
        prog=f"gallette {name}", description=module.__doc__, epilog=examples(command.examples)
    )
    declare(parser, command, getattr(module, "VALUES", {}))
    parser.set_defaults(run_command=module.run)
    return parser


def execute(arguments: Sequence[str]) -> int:
    """Run one command; errors are raised."""
    top = _top_parser()
    if not arguments or arguments[0].startswith("-"):
        options = top.parse_args(list(arguments))
        if options.version:
            from gallette import __version__

            print(f"gallette {__version__}")
        else:
            top.print_help()
        return 0
    name, rest = arguments[0], list(arguments[1:])
    if name not in COMMANDS:
        raise GalletteError(_unknown_command(name))
    options = command_parser(name).parse_args(rest)
    return int(options.run_command(options) or 0)


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, 1)
    hint = f"did you mean {close[0]!r}?" if close else "`gallette --help` lists the commands"
    return f"gallette: unknown command {name!r}; {hint}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        with guarded():
            status = execute(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
            return status
    except GalletteError as error:
        print_message(str(error))
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of standard output has closed it; the interpreter must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        print_message(f"gallette: cannot write: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the rest cannot be written either
        return 2


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
