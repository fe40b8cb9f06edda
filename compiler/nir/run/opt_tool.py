"""Run passes on a shader in NIR text form and print the result.

With --bisect the command finds the run of a pass that changes the shader's results, with --reduce
it shrinks the shader as long as the passes change them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.bisect_passes import Judge, bisect, reduce_shader
from gallette.compiler.nir.run.loaded import load_passes
from gallette.compiler.nir.run.pass_runner import PassLog, all_passes
from gallette.compiler.nir.run.pass_spec import Step, parse_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader


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
    """The judge that the options describe."""
    try:
        seeds = [int(word) for word in options.seeds.split(",")]
    except ValueError:
        raise InputError("gallette nir-opt: --seeds needs numbers separated by commas") from None
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
    """Run --bisect or --reduce; returns 1 if a pass breaks the shader."""
    text, name = _read(options.file)
    if options.bisect:
        finding = bisect(parse(text, name), steps, judge)
        print(finding or "no pass breaks the shader")
        return 1 if finding else 0

    def passes(shader: Shader) -> None:
        for step in steps:
            step.run(shader)

    try:
        reduced, tried = reduce_shader(print_shader(parse(text, name)), passes, judge)
    except ValueError:
        print("no pass breaks the shader", file=sys.stderr)
        return 0
    print(reduced, end="")
    print(f"{len(text)} -> {len(reduced)} characters, {tried} tried", file=sys.stderr)
    return 1


def run(options: argparse.Namespace) -> int:
    for file in options.load:
        load_passes(str(file))
    if options.list:
        _list_passes()
        return 0
    if options.file is None:
        raise GalletteError("gallette nir-opt: needs a FILE (try gallette nir-opt --help)")
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
