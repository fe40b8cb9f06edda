"""`gallette nir-opt`: read NIR text, run passes, print what becomes of it.

gallette nir-opt shader.nir -p "lower_vars_to_ssa,copy_prop,dce"
gallette nir-opt shader.nir -p optimize --log
gallette nir-opt --list
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gallette.compiler.arguments import ArgumentParser
from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.run.pass_runner import PassLog, all_passes
from gallette.compiler.nir.run.pass_spec import parse_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

__all__ = ["main"]


def _arguments() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="gallette nir-opt",
        description="Run passes on a shader in NIR text form and print the result.",
        epilog="example:\n  gallette nir-opt shader.nir -p 'copy_prop,algebraic(fuse=ffma),dce'",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", help="NIR text; - reads standard input")
    parser.add_argument("-p", "--passes", default="", help="pass(option=value),pass,...")
    parser.add_argument("-o", "--output", help="write the result here instead of printing it")
    parser.add_argument("--log", action="store_true", help="what each pass did, on standard error")
    parser.add_argument("--each", action="store_true", help="print after every pass with progress")
    parser.add_argument("--annotate", action="store_true", help="show predecessors, divergence")
    parser.add_argument("--run", action="store_true", help="run before and after, and compare")
    parser.add_argument("--list", action="store_true", help="list the passes and their options")
    return parser


def _list_passes() -> None:
    for name, info in all_passes().items():
        options = ", ".join(f"{key}={value!r}" for key, value in info.options.items())
        print(f"{name}({options})" if options else name)
        print(f"    {info.doc.splitlines()[0] if info.doc else ''}")


def _read(file: str) -> tuple[str, str]:
    if file == "-":
        return sys.stdin.read(), "<stdin>"
    try:
        return Path(file).read_text(encoding="utf-8"), file
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not text") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; errors are raised as `GalletteError` for the caller to show."""
    options = _arguments().parse_args(argv)
    if options.list:
        _list_passes()
        return 0
    if options.file is None:
        raise GalletteError("gallette nir-opt: which file? (try gallette nir-opt --help)")
    steps = parse_passes(options.passes)
    shader = parse(*_read(options.file))
    original = shader.clone() if options.run else None
    log = PassLog()
    for step in steps:
        progress = step.run(shader, log)
        validate(shader, step.name)
        if options.each and progress:
            print(f"// after {step.name}\n{print_shader(shader, options.annotate)}")
    if options.log:
        for record in log.records:
            change = f"{record.instrs_before} -> {record.instrs_after}"
            done = "changed" if record.progress else "-"
            print(
                f"{record.name:32} {done:8} {change:>14} instructions "
                f"{record.seconds * 1e3:8.2f} ms",
                file=sys.stderr,
            )
    text = print_shader(shader, options.annotate)
    if options.output:
        Path(options.output).write_text(text, encoding="utf-8")
    elif not options.each:
        print(text, end="")
    if original is not None:
        from gallette.compiler.nir.interp.interpreter import Environment, interpret

        difference = interpret(original, Environment()).same_as(interpret(shader, Environment()))
        print(difference or "same results", file=sys.stderr)
        return 1 if difference else 0
    return 0
