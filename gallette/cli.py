"""The `gallette` command.

This module knows the commands only by name: the one that is asked for is imported when it runs,
so `gallette --help` answers at once. Exit status: 0 success, 1 the job found failures, 2 the
request made no sense (one message, no traceback), 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from gallette.compiler.arguments import ArgumentParser
from gallette.compiler.errors import GalletteError, tell
from gallette.terminal import guarded

__all__ = ["COMMANDS", "main"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: the module that has `add_arguments` and `run`, and a line of help."""

    module: str
    help: str
    epilog: str


COMMANDS: dict[str, Command] = {
    "run": Command(
        "gallette.commands.run",
        "run any OpenGL program or Python script on gallette",
        "gallette run --frames 3 --save gears.png es2gears\ngallette run my_moderngl_script.py",
    ),
    "piglit": Command(
        "gallette.commands.piglit",
        "run shader_tests, compare runs",
        "gallette piglit run --driver numpipe -j 4 -o reports/numpipe\n"
        "gallette piglit run my.shader_test --driver native\n"
        "gallette piglit summary reports/native reports/numpipe --html reports/html",
    ),
    "diff": Command(
        "gallette.commands.diff",
        "render multi-pass scenes on two implementations and compare every pass",
        "gallette diff --list\n"
        "gallette diff shadow_map deferred --against native --html reports/diff\n"
        "gallette diff depth_prepass --option inexact_used_once=never\n"
        "gallette diff script.gcap --against native",
    ),
    "conformance": Command(
        "gallette.commands.conformance",
        "the bundled tests, then every scene's diff, and one report",
        "gallette conformance\ngallette conformance --filter blending\n"
        "gallette conformance --driver native -o reports/native",
    ),
    "explain": Command(
        "gallette.commands.explain",
        "a shader's way: NIR after each pass, variants, generated code",
        "gallette explain lit.frag\ngallette explain test.shader_test --html explain.html",
    ),
    "trace": Command(
        "gallette.commands.trace",
        "every draw of a run and the state behind it; any program as a capture",
        "gallette trace shadow_map --html trace.html\n"
        "gallette trace my.shader_test --json trace.jsonl\n"
        "gallette trace my_moderngl_script.py -o script.gcap\n"
        "gallette trace script.gcap --calls",
    ),
    "replay": Command(
        "gallette.commands.replay",
        "make the calls of a capture again, on any driver",
        "gallette replay script.gcap\n"
        "gallette replay script.gcap --driver native --until 120 --save picture.png",
    ),
    "pixel": Command(
        "gallette.commands.pixel",
        "everything that touched a pixel, test by test, and why nothing else did",
        "gallette pixel shadow_map 100,90\ngallette pixel my.shader_test 10,10 --everything",
    ),
    "debug": Command(
        "gallette.commands.debug",
        "step through the shader of a fragment, vertex or compute invocation",
        "gallette debug shadow_map 120,90\n"
        "gallette debug shadow_map 120,90 -c 'watch lit; line 11; vars; out'\n"
        "gallette debug lit_mesh --vertex 12\n"
        "gallette debug my.shader_test --invocation 3,0,0",
    ),
    "inspect": Command(
        "gallette.commands.inspect",
        "the frame debugger: every draw of a run in a local web page",
        "gallette inspect shadow_map\ngallette inspect script.gcap --port 8000\n"
        "gallette inspect deferred --html deferred.html",
    ),
    "explore": Command(
        "gallette.commands.explore",
        "a pair of shaders, live: GLSL, NIR after any pass, code and picture",
        "gallette explore\ngallette explore shader.frag",
    ),
    "bench": Command(
        "gallette.commands.bench",
        "time scenes side by side with other drivers",
        "gallette bench --against softpipe,llvmpipe\n"
        "gallette bench mandelbrot --repeat 5 --json bench.json\n"
        "gallette bench overdraw tiny_triangles --size 512,1024,2048\n"
        "gallette bench --scenes mine.py",
    ),
    "lesson": Command(
        "gallette.commands.lesson",
        "the course: runnable pages about real driver problems",
        "gallette lesson\ngallette lesson is_used_once --html lesson.html\n"
        "gallette lesson --html reports/lessons\ngallette lesson triangle --serve\n"
        "gallette lesson start bins\ngallette lesson check bins",
    ),
    "new": Command(
        "gallette.commands.new",
        "a pass, rules or a driver of your own, outside of gallette, with a test",
        "gallette new pass lower_fsub\ngallette new rule my_rules\ngallette new driver my_driver",
    ),
    "drivers": Command(
        "gallette.commands.drivers",
        "list drivers and what they can do",
        "gallette drivers\ngallette drivers numpipe",
    ),
    "glslc": Command(
        "gallette.compiler.glsl.tool",
        "compile GLSL and report",
        "gallette glslc shader.frag\ngallette glslc shader.vert --json",
    ),
    "spirv": Command(
        "gallette.commands.spirv",
        "GLSL, NIR and SPIR-V (text or binary), one into another",
        "gallette spirv shader.frag\ngallette spirv shader.frag -o shader.spv --via\n"
        "gallette spirv module.spv --to nir",
    ),
    "kernel": Command(
        "gallette.commands.kernel",
        "run a kernel of a SPIR-V module on arrays",
        "gallette kernel saxpy.spv --grid 2 --block 32 --arg zeros:f32:64 --arg arange:f32:64 "
        "--arg f32:2 --arg i32:64",
    ),
    "nir-opt": Command(
        "gallette.compiler.nir.run.opt_tool",
        "run passes on NIR text",
        "gallette nir-opt shader.nir -p constant_folding,dce",
    ),
    "reduce": Command(
        "gallette.commands.reduce",
        "shrink a shader or shader_test while a command still answers the same",
        "gallette reduce my.shader_test --check 'gallette piglit run {}'\n"
        "gallette reduce bad.frag --check 'gallette glslc {}' -o small.frag",
    ),
    "shader-db": Command(
        "gallette.commands.shader_db",
        "instructions, registers and loops of a corpus, under one or two settings",
        "gallette shader-db piglit_subset/spec/glsl-3.30/operators\n"
        "gallette shader-db my_tests --set fuse_ffma=true --against fuse_ffma=false\n"
        "gallette shader-db my_tests --driver simd --against live_ranges=loop_extended",
    ),
    "asm": Command(
        "gallette.commands.asm",
        "assemble a driver's machine code",
        "gallette asm kernel.s -o kernel.bin\ngallette asm kernel.s",
    ),
    "disasm": Command(
        "gallette.commands.disasm",
        "disassemble a driver's machine code, or a shader's",
        "gallette disasm kernel.bin\ngallette disasm lit.frag",
    ),
}
# These bring their own argument parser: they are tools of their packages first.
_PASS_THROUGH = ("glslc", "nir-opt")


def _examples(text: str) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in text.splitlines())


def _debug_flags() -> str:
    """The table of debug flags, one per line."""
    from gallette.compiler.debug import FLAGS

    def spell(name: str, values: tuple[str, ...]) -> str:
        return f"{name}={'|'.join(values)}" if values else name

    lines = []
    for flag in FLAGS.values():
        head = spell(flag.name, flag.values)
        gap = "\n" + " " * 32 if len(head) > 25 else " " * (26 - len(head))
        lines.append(f"      {head}{gap}{flag.doc}")
    return "\n".join(lines)


def _top_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    listing = "\n".join(f"  {name:<{width}}  {c.help}" for name, c in COMMANDS.items())
    parser = ArgumentParser(
        prog="gallette",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="gallette COMMAND [ARGUMENT...]",
        description="Gallium, bite-sized: an OpenGL driver stack in Python on NumPy.\n\n"
        f"commands:\n{listing}",
        epilog=_examples(
            "gallette conformance\n"
            "gallette piglit run --driver numpipe\n"
            "gallette diff shadow_map --against native --html reports/diff\n"
            "gallette explain shader.frag"
        )
        + "\n\nenvironment:\n"
        "  GALLETTE_DRIVER   the default driver\n"
        "  GALLETTE_STREAM   off: execute every call and draw at once\n"
        "  GALLETTE_DEBUG    flags, separated by commas:\n"
        + _debug_flags()
        + "\n\nEvery command has its own --help.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


def _run(arguments: Sequence[str]) -> int:
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
    command = COMMANDS[name]
    module = importlib.import_module(command.module)
    if name in _PASS_THROUGH:
        return int(module.main(rest) or 0)
    parser = ArgumentParser(
        prog=f"gallette {name}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=command.help,
        epilog=_examples(command.epilog),
    )
    module.add_arguments(parser)
    return int(module.run(parser.parse_args(rest)))


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"commands: {', '.join(COMMANDS)}"
    return f"gallette: unknown command {name!r}; {hint}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    try:
        with guarded():
            status = _run(sys.argv[1:] if arguments is None else arguments)
            sys.stdout.flush()
            return status
    except GalletteError as error:
        tell(str(error))
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has had enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        tell(f"gallette: cannot write: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the rest of it cannot be written, either
        return 2


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
