"""`gallette glslc`: compiles GLSL files and reports errors, as text or (with --json) for editors.

Files are compiled one by one; with --link they are linked as one program, with --nir the NIR for a
driver is printed. Exit status 0 when everything compiled, 2 otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gallette.compiler.arguments import ArgumentParser, read_source
from gallette.compiler.errors import InputError, printable
from gallette.compiler.glsl.api import CompiledShader, CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir import Stage

__all__ = ["main"]

SUFFIXES = {
    ".vert": Stage.VERTEX,
    ".tesc": Stage.TESS_CTRL,
    ".tese": Stage.TESS_EVAL,
    ".geom": Stage.GEOMETRY,
    ".frag": Stage.FRAGMENT,
    ".comp": Stage.COMPUTE,
}


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="gallette glslc",
        description="Compile GLSL and report errors and warnings.",
        epilog="example: gallette glslc scene.vert scene.frag --link --json",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="GLSL; - reads standard input")
    parser.add_argument(
        "--stage",
        choices=[s.value for s in SUFFIXES.values()],
        help="the stage of files whose suffix does not tell",
    )
    parser.add_argument("--api", choices=("core", "compat", "es"), default="compat")
    parser.add_argument("--link", action="store_true", help="link all files into one program")
    parser.add_argument("--nir", action="store_true", help="print the linked NIR (implies --link)")
    parser.add_argument("--json", action="store_true", help="diagnostics as JSON")
    return parser


def _stage_of(name: str, stage: str | None) -> Stage:
    if stage is not None:
        return Stage(stage)
    path = Path(name)
    suffixes = path.suffixes[-2:]
    for suffix in reversed(suffixes):  # both a.frag and a.frag.glsl
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
    known = " ".join(SUFFIXES)
    raise InputError(f"cannot tell the stage of '{name}'; use --stage or a suffix of: {known}")


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


def main(argv: list[str] | None = None) -> int:
    """Entry of the command; returns the exit status."""
    args = _parser().parse_args(argv)
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
            if shader.ok:  # with --nir, standard output is NIR alone
                talk = sys.stderr if args.nir else sys.stdout
                print(f"{name}: {shader.stage.value} shader, {shader.language.name}: ok", file=talk)
        if program is not None:
            print(printable(program.info_log), end="", file=sys.stderr)
    if program is not None:
        if args.nir and not args.json:
            from gallette.compiler.nir.text.printer import print_shader

            for nir in program.shaders.values():
                print(print_shader(nir), end="")
        for nir in program.shaders.values():
            nir.unref()
    return 0 if ok else 2


if __name__ == "__main__":
    sys.exit(main())
