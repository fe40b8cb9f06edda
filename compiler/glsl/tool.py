"""Compile GLSL files, and link them, and report errors and warnings.

Each file is compiled on its own; with --link they are linked as one program. The command ends with
0 if everything compiled and linked, else with 2.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gallette.compiler.arguments import read_source
from gallette.compiler.errors import InputError, printable
from gallette.compiler.glsl.api import CompiledShader, CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import SUFFIXES
from gallette.compiler.nir.text.printer import print_shader

VALUES = {"stages": [stage.value for stage in SUFFIXES.values()]}


def _stage_of(name: str, stage: str | None) -> Stage:
    if stage is not None:
        return Stage(stage)
    path = Path(name)
    suffixes = path.suffixes[-2:]
    for suffix in reversed(suffixes):  # both a.frag and a.frag.glsl
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
    known = " ".join(SUFFIXES)
    raise InputError(
        f"{name}: the stage cannot be inferred from the file name; use --stage or a suffix: {known}"
    )


def _as_json(
    shaders: list[tuple[str, CompiledShader]], program: LinkedProgram | None
) -> dict[str, Any]:
    files = []
    for name, shader in shaders:
        diagnostics = []
        for d in shader.diagnostics:
            entry: dict[str, Any] = {"severity": d.severity, "message": d.message}
            if d.span is not None:
                entry.update(
                    file=d.span.file,
                    line=d.span.line,
                    column=d.span.column,
                    end_column=d.span.end_column,
                )
            if d.hint:
                entry["hint"] = d.hint
            diagnostics.append(entry)
        files.append(
            {
                "file": name,
                "stage": shader.stage.value,
                "language": shader.language.name,
                "ok": shader.ok,
                "diagnostics": diagnostics,
            }
        )
    result: dict[str, Any] = {"files": files}
    if program is not None:
        result["link"] = {"ok": program.ok, "log": program.info_log.splitlines()}
    return result


def run(args: argparse.Namespace) -> int:
    options = CompileOptions(api=args.api)
    shaders: list[tuple[str, CompiledShader]] = []
    for name in args.files:
        stage = _stage_of(name, args.stage)
        source, shown = read_source(name)
        shaders.append((shown, compile_shader(stage, source, options, [shown])))
    ok = all(shader.ok for _, shader in shaders)
    program = None
    if ok and (args.link or args.nir):
        program = link_program([s for _, s in shaders], LinkOptions(api=args.api))
        ok = program.ok
    if args.json:
        print(json.dumps(_as_json(shaders, program), indent=2))
    else:
        for name, shader in shaders:
            print(printable(shader.info_log), end="", file=sys.stderr)
            if shader.ok:  # with --nir, standard output holds the NIR alone
                out = sys.stderr if args.nir else sys.stdout
                print(f"{name}: {shader.stage.value} shader, {shader.language.name}: ok", file=out)
        if program is not None:
            print(printable(program.info_log), end="", file=sys.stderr)
    if program is not None:
        if args.nir and not args.json:
            for nir in program.shaders.values():
                print(print_shader(nir), end="")
        for nir in program.shaders.values():
            nir.unref()
    return 0 if ok else 2
