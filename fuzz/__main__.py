"""Runs a fuzzer: `python -m fuzz NAME [OPTION...]`; `python -m fuzz NAME --help` has its options.

    python -m fuzz gl --kind modern --seconds 60
    python -m fuzz gl --first 4711 --count 1           # one case again, made small
    python -m fuzz gl --first 4711 --show              # print the case
    python -m fuzz hostile --driver jit --count 5000 --all --save found/
    python -m fuzz hostile --replay found/hostile_12.txt

Exit status: 0 nothing was found, 1 something was, 2 the request made no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

FUZZERS = {
    "gl": ("gl_programs.fuzzer", "random OpenGL programs, compared between implementations"),
    "hostile": ("hostile.fuzzer", "OpenGL programs with indices, sizes and loops out of bounds"),
    "pointers": ("pointers", "random calls of all functions through C pointers"),
    "glsl-text": ("glsl_text", "mutated and random GLSL"),
    "glsl-programs": ("glsl_programs.fuzzer", "whole GLSL programs, compared with an evaluator"),
    "spirv-words": ("spirv_words", "mutated SPIR-V modules"),
    "spirv-names": ("spirv_names", "SPIR-V modules with hostile names"),
    "kernels": ("kernels", "kernel launches with wild arguments"),
    "machines": ("machines", "divergent loops on the simulated machines"),
    "machine-code": ("machine_code", "registers and dependencies of the simulated machines' code"),
    "captures": ("captures", "damaged and hostile captures"),
    "program-binaries": ("program_binaries", "damaged and hostile program binaries"),
    "compile-bombs": ("compile_bombs", "constructs that could make the compiler work for ever"),
}
"""name: module, and what its inputs are"""
ENVIRONMENT = {
    "GALLETTE_DEBUG": "nir:validate",  # what the linker makes, too
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "LP_NUM_THREADS": "0",
    "GALLIVM_PERF": "nopt",  # llvmpipe compiles more than it draws here
}


def main(arguments: list[str]) -> int:
    """Run the fuzzer that the arguments name."""
    listed = "\n".join(f"  {name:18}{what}" for name, (_, what) in FUZZERS.items())
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description=__doc__,
        epilog=f"fuzzers:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=FUZZERS, metavar="NAME")
    name = parser.parse_args(arguments[:1] or ["--help"]).name
    for variable, value in ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    fuzzer = import_module(f"fuzz.{FUZZERS[name][0]}")
    harness = import_module("fuzz.harness")
    return int(harness.main(name, fuzzer.FUZZER, arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
