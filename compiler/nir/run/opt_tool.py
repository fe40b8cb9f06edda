"""`gallette nir-opt`: read NIR text, run passes, print what becomes of it.

gallette nir-opt shader.nir -p "lower_vars_to_ssa,copy_prop,dce"
gallette nir-opt shader.nir -p optimize --log
gallette nir-opt shader.nir -p optimize --bisect
gallette nir-opt shader.nir -p optimize --reduce --seeds 0,1,2 --lanes 64
gallette nir-opt shader.nir --load my_pass.py -p my_pass
gallette nir-opt --list
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gallette.compiler.arguments import ArgumentParser
from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.bisect_passes import Judge, bisect, reduce_shader
from gallette.compiler.nir.run.loaded import load_passes
from gallette.compiler.nir.run.pass_runner import PassLog, all_passes
from gallette.compiler.nir.run.pass_spec import Step, parse_passes
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
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE.py",
        help="passes or rules of your own (gallette new pass, gallette new rule)",
    )
    parser.add_argument("-o", "--output", help="write the result here instead of printing it")
    parser.add_argument("--log", action="store_true", help="what each pass did, on standard error")
    parser.add_argument("--each", action="store_true", help="print after every pass with progress")
    parser.add_argument("--annotate", action="store_true", help="show predecessors, divergence")
    parser.add_argument("--run", action="store_true", help="run before and after, and compare")
    parser.add_argument("--list", action="store_true", help="list the passes and their options")
    hunt = parser.add_argument_group("hunting a wrong pass")
    hunt.add_argument("--bisect", action="store_true", help="which run of a pass breaks it?")
    hunt.add_argument("--reduce", action="store_true", help="shrink the shader while it breaks")
    hunt.add_argument(
        "--check", default="", metavar="COMMAND", help="a shell command judges; {} is the file"
    )
    hunt.add_argument("--lanes", type=int, default=16, help="invocations of each run")
    hunt.add_argument("--seeds", default="0,1", help="what runs see is drawn from these")
    hunt.add_argument("--tolerance", type=float, default=0.0, help="relative, of floats")
    hunt.add_argument("--inputs", help="JSON with inputs (slot.component), uniforms, system_values")
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


def _judge(options: argparse.Namespace) -> Judge:
    """How results are compared, from the options."""
    try:
        seeds = [int(word) for word in options.seeds.split(",")]
    except ValueError:
        raise InputError("gallette nir-opt: --seeds are numbers separated by commas") from None
    if options.inputs is None:
        return Judge(options.lanes, seeds, options.tolerance, options.check)
    try:
        given = json.loads(_read(str(options.inputs))[0])
        inputs = {
            (int(slot), int(component)): np.resize(np.asarray(values), options.lanes)
            for key, values in given.get("inputs", {}).items()
            for slot, component in [key.split(".")]
        }
    except (ValueError, AttributeError) as error:
        raise InputError(f"{options.inputs}: {error}") from None

    def world(seed: int) -> Environment:
        return Environment(
            options.lanes,
            seed,
            inputs=inputs,
            uniforms=given.get("uniforms"),
            system_values=given.get("system_values"),
        )

    return Judge(options.lanes, seeds, options.tolerance, options.check, world)


def _hunt(options: argparse.Namespace, steps: list[Step], judge: Judge) -> int:
    """Run `--bisect` and `--reduce`; returns 1 if the shader is broken."""
    text, name = _read(options.file)
    if options.bisect:
        finding = bisect(parse(text, name), steps, judge)
        print(finding or "nothing breaks it")
        return 1 if finding else 0

    def passes(shader: Shader) -> None:
        for step in steps:
            step.run(shader)

    try:
        reduced, tried = reduce_shader(print_shader(parse(text, name)), passes, judge)
    except ValueError:
        print("nothing breaks it", file=sys.stderr)
        return 0
    print(reduced, end="")
    print(f"{len(text)} -> {len(reduced)} characters, {tried} tried", file=sys.stderr)
    return 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; errors are raised as `GalletteError` for the caller to show."""
    options = _arguments().parse_args(argv)
    for file in options.load:
        load_passes(file)
    if options.list:
        _list_passes()
        return 0
    if options.file is None:
        raise GalletteError("gallette nir-opt: which file? (try gallette nir-opt --help)")
    steps = parse_passes(options.passes)
    judge = _judge(options)
    if options.bisect or options.reduce:
        return _hunt(options, steps, judge)
    shader = parse(*_read(options.file))
    original = clone_shader(shader) if options.run else None
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
        difference = judge.difference(original, shader)
        print(difference or "same results", file=sys.stderr)
        return 1 if difference else 0
    return 0
