"""Loads and stores that alias facts remove, while accesses are derefs and after they are addresses.

    python bench/alias_facts.py [--every N]

The corpus is every stage of the bundled shader_tests that reaches storage buffers or shared memory,
and the OpenCL kernels of the tests. Each is counted three ways: lowered to addresses without any of
the passes (what the program says), with them before lowering, and with them after it.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassSpec, recording, run_passes
from gallette.compiler.nir.run.pipeline import LOWER_IO
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.compute.kernels import FRONT
from gallette.piglit_subset.shader_test import parse_file
from gallette.piglit_subset.suite import find_tests

ROOT = Path(__file__).parents[1]
CLEAN: tuple[PassSpec, ...] = ("copy_prop", "constant_folding", "cse", "dce")
MEMORY: tuple[PassSpec, ...] = ("opt_copy_prop_vars", "opt_dead_write_vars", *CLEAN)
LOWER_KERNEL: tuple[PassSpec, ...] = ("opt_deref", "lower_explicit_io", "lower_global_to_ssbo")


def _stage(name: str) -> Stage:
    short = name.removesuffix("_SHADER").replace("CONTROL", "CTRL").replace("UATION", "")
    return Stage[short]


def bundled(every: int) -> Iterator[tuple[str, str]]:
    """(test, NIR text in front of the first pass that knows memory) of stages with memory."""
    for _, path in find_tests([])[::every]:
        source = path.read_text(encoding="utf-8")
        if " buffer " not in source and "shared " not in source:
            continue
        test = parse_file(path)
        with recording() as log:
            shaders = [
                compile_shader(_stage(part.stage), [part.text], CompileOptions())
                for part in test.shaders
                if part.form == "glsl"
            ]
            program = link_program(shaders, LinkOptions()) if all(s.ok for s in shaders) else None
        if program is None or not program.ok:
            continue
        for shader in program.shaders.values():
            shader.unref()
        seen = set()
        for record in log.records:
            if record.name == "opt_copy_prop_vars" and record.stage not in seen:
                seen.add(record.stage)
                yield path.stem, record.before


def kernels(level: str) -> Iterator[tuple[str, Shader]]:
    """Every kernel of the tests, in SSA form, as clang gives them."""
    for path in sorted((ROOT / "tests" / "kernels").glob("*.spvasm")):
        if level == "-O2":
            module = assemble(path.read_text(), str(path))
        else:
            found = compiled(path.with_suffix(".cl"), level)
            if found is None:
                continue
            module = found
        for entry in Declarations(module).entries:
            shader = spirv_to_nir(module, Stage.KERNEL, entry.name)
            shader.stage = Stage.COMPUTE
            shader.info.workgroup_size = (16, 1, 1)
            run_passes(shader, [*FRONT, *CLEAN])
            yield entry.name, shader


def compiled(path: Path, level: str) -> Module | None:
    """A file of OpenCL C at another level, where clang and llvm-spirv are installed and take it."""
    clang, translator = shutil.which("clang-15"), shutil.which("llvm-spirv-15")
    if clang is None or translator is None:
        return None
    flags = ["-cc1", "-no-opaque-pointers", "-triple", "spir64", level, "-cl-std=CL2.0"]
    flags += ["-finclude-default-header", "-emit-llvm-bc", "-o"]
    with tempfile.TemporaryDirectory() as folder:
        bitcode, binary = f"{folder}/k.bc", Path(folder, "k.spv")
        subprocess.run([clang, *flags, bitcode, str(path)], check=True)
        done = subprocess.run([translator, bitcode, "-o", str(binary)], capture_output=True)
        return read_module(binary.read_bytes()) if done.returncode == 0 else None


def accesses(shader: Shader) -> tuple[int, int]:
    """Loads and stores of memory that others may see."""
    loads = stores = 0
    for impl in shader.impls():
        for block in impl.blocks():
            for instr in block.instrs():
                if isinstance(instr, Intrinsic):
                    name = instr.name
                    loads += name in ("load_ssbo", "load_shared", "load_global")
                    stores += name in ("store_ssbo", "store_shared", "store_global")
    return loads, stores


def three_ways(shader: Shader, lower: tuple[PassSpec, ...]) -> list[tuple[int, int]]:
    """Accesses without the passes, with them before and with them after lowering."""
    from gallette.compiler.nir.ir.cloning import clone_shader

    found = []
    for passes in ((*lower, *CLEAN), (*MEMORY, *lower, *MEMORY), (*lower, *MEMORY)):
        copy = clone_shader(shader)
        run_passes(copy, passes)
        found.append(accesses(copy))
        copy.unref()
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    totals: dict[str, list[int]] = {}

    def add(name: str, counts: list[tuple[int, int]]) -> None:
        total = totals.setdefault(name, [0] * 7)
        if not counts[0][0] + counts[0][1]:
            return
        total[0] += 1
        for k, (loads, stores) in enumerate(counts):
            total[1 + 2 * k] += loads
            total[2 + 2 * k] += stores

    for _, text in bundled(options.every):
        shader = parse(text)
        add("bundled shader_tests", three_ways(shader, (*LOWER_IO,)))
        shader.unref()
    for level in ("-O2", "-O0"):
        for _, shader in kernels(level):
            add(f"OpenCL kernels, clang {level}", three_ways(shader, LOWER_KERNEL))
            shader.unref()
    print("| corpus | shaders | loads, stores | after lowering | before lowering |")
    print("| --- | --- | --- | --- | --- |")
    for name, (count, l0, s0, l1, s1, l2, s2) in totals.items():
        print(
            f"| {name} | {count} | {l0}, {s0} | -{l0 - l2}, -{s0 - s2} | -{l0 - l1}, -{s0 - s1} |"
        )


if __name__ == "__main__":
    main()
