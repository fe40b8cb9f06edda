"""The `gallette` command: the table of commands, and the code they share.

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
from dataclasses import dataclass

from gallette.compiler.arguments import ArgumentParser
from gallette.compiler.errors import GalletteError, print_message
from gallette.terminal import guarded

__all__ = ["COMMANDS", "GROUPS", "command_parser", "execute", "main"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its module, its line in the list of commands, and examples for its help.

    The module has `add_arguments` and `run`; its docstring begins the text of `--help`.
    """

    module: str
    help: str
    examples: str


GROUPS: dict[str, dict[str, Command]] = {
    "run programs and tests": {
        "run": Command(
            "gallette.commands.run",
            "run any OpenGL program or Python script on gallette",
            "gallette run my_moderngl_script.py\n"
            "gallette run --frames 3 --save gears.png es2gears_x11\n"
            "gallette run --frames 10 --golden goldens my_program.py",
        ),
        "piglit": Command(
            "gallette.commands.piglit",
            "run shader_tests and compare the results of runs",
            "gallette piglit run --driver numpipe -j 4 -o reports/numpipe\n"
            "gallette piglit run my.shader_test --driver native\n"
            "gallette piglit summary reports/native reports/numpipe --html reports/html",
        ),
        "conformance": Command(
            "gallette.commands.conformance",
            "run the bundled tests and compare every scene; write one report",
            "gallette conformance\ngallette conformance --filter blending\n"
            "gallette conformance --driver native -o reports/native",
        ),
        "diff": Command(
            "gallette.commands.diff",
            "render on two drivers, or against golden images, and compare pixels",
            "gallette diff --list\n"
            "gallette diff shadow_map deferred --against native --html reports/diff\n"
            "gallette diff my_scene.py --golden goldens\n"
            "gallette diff script.gcap --against native",
        ),
        "bench": Command(
            "gallette.commands.bench",
            "measure the time of a frame, side by side with other drivers",
            "gallette bench --against softpipe,llvmpipe\n"
            "gallette bench mandelbrot --repeat 5 --json bench.json\n"
            "gallette bench overdraw tiny_triangles --size 512,1024,2048\n"
            "gallette bench game.gcap --driver jit --against llvmpipe,noop\n"
            "gallette bench --captures captures --driver jit --against llvmpipe\n"
            "gallette bench gradient blur --driver numpipe,jit --against llvmpipe --limits\n"
            "gallette bench --scenes mine.py",
        ),
        "drivers": Command(
            "gallette.commands.drivers",
            "list drivers, their capabilities and their options",
            "gallette drivers\ngallette drivers numpipe\ngallette drivers --options",
        ),
    },
    "find out why": {
        "trace": Command(
            "gallette.commands.trace",
            "list every draw of a run with its state, or record a program to a capture",
            "gallette trace shadow_map --html trace.html\n"
            "gallette trace my.shader_test --json trace.jsonl\n"
            "gallette trace my_moderngl_script.py -o script.gcap\n"
            "gallette trace script.gcap --calls",
        ),
        "replay": Command(
            "gallette.commands.replay",
            "replay a capture on any driver",
            "gallette replay script.gcap\n"
            "gallette replay script.gcap --driver native --until 120 --save picture.png",
        ),
        "pixel": Command(
            "gallette.commands.pixel",
            "show the history of a pixel: every clear, draw, test and write",
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
            "open the frame debugger, a local web page",
            "gallette inspect shadow_map\ngallette inspect script.gcap --port 8000\n"
            "gallette inspect deferred --html deferred.html",
        ),
        "explain": Command(
            "gallette.commands.explain",
            "show how a shader compiles: NIR after each pass, variants, generated code",
            "gallette explain lit.frag\ngallette explain test.shader_test --html explain.html",
        ),
        "explore": Command(
            "gallette.commands.explore",
            "edit a pair of shaders in a local web page: GLSL, NIR, code and picture",
            "gallette explore\ngallette explore shader.frag",
        ),
        "lesson": Command(
            "gallette.commands.lesson",
            "read a lesson of the course on drivers and compilers",
            "gallette lesson\ngallette lesson is_used_once --html lesson.html\n"
            "gallette lesson --html reports/lessons\ngallette lesson triangle --serve\n"
            "gallette lesson start bins\ngallette lesson check bins",
        ),
        "new": Command(
            "gallette.commands.new",
            "write a pass, rules or a driver to start from, with a test",
            "gallette new pass lower_fsub\ngallette new rule my_rules\n"
            "gallette new driver my_driver",
        ),
    },
    "compile shaders": {
        "glslc": Command(
            "gallette.compiler.glsl.tool",
            "compile and link GLSL, and report errors and warnings",
            "gallette glslc shader.frag\n"
            "gallette glslc scene.vert scene.frag --link --json\n"
            "gallette glslc shader.frag --nir",
        ),
        "spirv": Command(
            "gallette.commands.spirv",
            "translate between GLSL, NIR and SPIR-V",
            "gallette spirv shader.frag\ngallette spirv shader.frag -o shader.spv --via\n"
            "gallette spirv module.spv --to nir",
        ),
        "nir-opt": Command(
            "gallette.compiler.nir.run.opt_tool",
            "run passes on NIR text, or find the pass that breaks a shader",
            "gallette nir-opt shader.nir -p 'copy_prop,algebraic(fuse=ffma),dce'\n"
            "gallette nir-opt shader.nir -p optimize --log\n"
            "gallette nir-opt shader.nir -p optimize --bisect\n"
            "gallette nir-opt --list",
        ),
        "kernel": Command(
            "gallette.commands.kernel",
            "run an OpenCL kernel or a compute shader on arrays",
            "gallette kernel saxpy.spv --grid 2 --block 32 --arg zeros:f32:64 --arg arange:f32:64 "
            "--arg f32:2 --arg i32:64",
        ),
        "asm": Command(
            "gallette.commands.asm",
            "assemble a driver's machine code",
            "gallette asm kernel.s -o kernel.bin\ngallette asm kernel.s\n"
            "gallette asm --driver tiler --instructions",
        ),
        "disasm": Command(
            "gallette.commands.disasm",
            "disassemble a driver's machine code, or compile a shader to it",
            "gallette disasm kernel.bin\ngallette disasm lit.frag",
        ),
        "shader-db": Command(
            "gallette.commands.shader_db",
            "count the instructions, registers and loops of many shaders",
            "gallette shader-db piglit_subset/spec/glsl-3.30/operators\n"
            "gallette shader-db my_tests --set fuse_ffma=true --against fuse_ffma=false\n"
            "gallette shader-db my_tests --driver simd --against live_ranges=loop_extended",
        ),
        "reduce": Command(
            "gallette.commands.reduce",
            "shrink a shader or shader_test while a command's result stays the same",
            "gallette reduce my.shader_test --check 'gallette piglit run {}'\n"
            "gallette reduce bad.frag --check 'gallette glslc {}' -o small.frag",
        ),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def _examples(text: str) -> str:
    return "examples:\n" + "\n".join(f"  {line}" for line in text.splitlines())


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
        epilog=_examples(
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
        prog=f"gallette {name}", description=module.__doc__, epilog=_examples(command.examples)
    )
    module.add_arguments(parser)
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
