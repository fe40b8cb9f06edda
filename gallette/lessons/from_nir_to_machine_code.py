"""Lesson: one shader as NumPy code, as LLVM IR and as machine code, and what memory has to do."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl import LinkOptions, compile_shader, link_program
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import mutable
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import FLOAT, array
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Code, Page, Table, lesson

__all__ = ["FRAGMENT", "memory_accesses", "two_arrays"]

Result = TypeVar("Result")
FRAGMENT = """#version 330
in vec3 normal;
uniform vec3 light;
uniform int steps;
out vec4 color;
void main() {
    float shade = max(dot(normalize(normal), light), 0.0);
    for (int i = 0; i < steps; i++) {
        if (shade > 0.9) break;
        shade = shade * 1.1 + 0.01;
    }
    color = vec4(vec3(shade), 1.0);
}
"""


def fragment_shader(source: str) -> Shader:
    """A fragment shader as drivers optimise it; the caller owns the reference."""
    compiled = compile_shader(Stage.FRAGMENT, source, None)
    program = link_program([compiled], LinkOptions(separable=True))
    if not program.ok:
        raise GalletteError(program.info_log)
    shader = mutable(program.shaders[Stage.FRAGMENT])
    optimize(shader, OptimizeOptions(scalar=True))
    return shader


def two_arrays() -> Shader:
    """Two local arrays: one is written at a place only the uniforms know, then the other is read.

    Nothing was optimised in NIR, so whatever is found out, LLVM found out.
    """
    b = Builder.shader_main(Stage.FRAGMENT, "two arrays")
    zero = b.imm_int(0)
    first = b.impl.add_local("first", array(FLOAT, 4))
    second = b.impl.add_local("second", array(FLOAT, 4))
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    value = b.intrinsic("load_interpolated_input", [bary, zero], num_components=1, location=32)
    place = b.intrinsic("load_ubo", [zero, zero], num_components=1)
    for i in range(4):
        b.store_deref(b.deref_array_imm(b.deref_var(first), i), b.fmul(value, b.imm_float(i + 1.0)))
    b.store_deref(b.deref_array(b.deref_var(second), place), value)
    total = b.imm_float(0.0)
    for i in range(4):
        total = b.fadd(total, b.load_deref(b.deref_array_imm(b.deref_var(first), i)))
    b.intrinsic("store_output", [b.vec([total] * 4), zero], location=4, write_mask=15)
    return b.shader


def memory_accesses(optimised: str) -> tuple[int, int]:
    """Loads and stores of whole vectors that are left in an optimised module."""
    loads = re.findall(r"= load <\d+ x i\d+>|= load <\d+ x float>", optimised)
    stores = re.findall(r"store <\d+ x i\d+>|store <\d+ x float>", optimised)
    return len(loads), len(stores)


def timed(run: Callable[[], Result]) -> tuple[Result, str]:
    """A result, and the milliseconds it took."""
    start = time.perf_counter()
    result = run()
    return result, f"{(time.perf_counter() - start) * 1e3:.1f} ms"


@lesson("from_nir_to_machine_code", "From NIR to machine code", chapter="Machines", place=50)
def run(page: Page, driver: str) -> None:
    """The same shader as NumPy code, as LLVM IR and as assembly, with the time each step takes.

    And what derefs let LLVM see about memory that offsets hide.
    """
    try:
        from gallette.drivers.jit.llvm.engine import explain, machine, optimised
        from gallette.drivers.jit.shader.chunk_emit import emit_chunk
    except ImportError as error:
        raise GalletteError(f"this lesson needs the extra gallette[jit]: {error}") from error
    from gallette.drivers.numpipe.shader.program import compile_program

    page.section(
        "One shader",
        """A loop that lanes leave at different times, after some arithmetic that is the same in
        every lane. Both drivers get the same NIR.""",
    )
    page.add(Code(FRAGMENT.strip(), "glsl"))
    shader = fragment_shader(FRAGMENT)
    page.add(Code(print_shader(shader), "nir", "what the drivers are given"))

    page.progress("NumPy")
    program, numpy_time = timed(lambda: compile_program(shader))
    page.section(
        "numpipe: an array operation per instruction",
        """A value is an array of thousands of lanes. Lanes that leave the loop are dropped from
        the arrays, so later iterations are cheaper; every operation goes through memory.""",
    )
    page.add(Code(program.code, "python", "generated NumPy code"))

    page.progress("LLVM")
    chunk, emit_time = timed(lambda: emit_chunk(shader, explains=True))
    _, optimise_time = timed(lambda: optimised(chunk.text))
    (after, assembly), both_time = timed(lambda: explain(chunk.text))
    page.section(
        "jit: a register per value",
        f"""A value is one vector of {machine().lanes} lanes in a register. The uniform part is
        scalar code; the loop keeps a mask of the lanes still inside and ends when it is empty.
        Comments name the NIR instruction each group of lines comes from.""",
    )
    page.add(Code(chunk.text, "llvm", "LLVM IR as written"))
    page.add(Code(after, "llvm", "optimised: variables have become registers"))
    page.add(Code(assembly, "asm", f"machine code for {machine().cpu}"))
    page.section("What each step costs")
    rows: list[tuple[str, ...]] = [
        ("NIR to Python, compiled", numpy_time, f"{len(program.code.splitlines())} lines"),
        ("NIR to LLVM IR", emit_time, f"{len(chunk.text.splitlines())} lines"),
        ("LLVM's passes", optimise_time, f"{len(after.splitlines())} lines"),
        ("passes and machine code", both_time, f"{len(assembly.splitlines())} lines"),
    ]
    page.add(Table(("step", "time", "result"), rows, "the driver does this once; files keep it"))
    shader.unref()
    _memory(page)
    page.ask(
        "One line of the NumPy code works on thousands of lanes. So what is slow about it?",
        """Memory: every intermediate value is an array that is written and read again. The
        interpreter's share shrinks with the number of lanes; that of memory does not.""",
    )
    page.ask(
        "The loop in the machine code runs until its mask is empty. What does that cost?",
        """A lane that leaves in the first round is carried along until the last of its group has
        left. NumPy code drops it from the arrays instead, which costs a gather.""",
    )
    page.tries(
        ("gallette explain shader.frag --driver jit", "IR and assembly of your own shader"),
        ("gallette bench mandelbrot --against jit", "what it is worth, side by side"),
    )


def _memory(page: Page) -> None:
    from gallette.drivers.jit.llvm.engine import explain
    from gallette.drivers.jit.shader.chunk_emit import emit_chunk

    page.progress("memory")
    shader = two_arrays()
    page.section(
        "What derefs tell LLVM",
        """Two local arrays: `second` is written at an index from a uniform, then `first` is read.
        From derefs each variable becomes memory of its own, and a write to one cannot change the
        other. As offsets into one memory, the write may have hit anything.""",
    )
    page.add(Code(print_shader(shader), "nir", "derefs, nothing optimised"))
    rows: list[tuple[str, ...]] = []
    for name, one_block in (("a memory per variable (derefs)", False), ("offsets", True)):
        text = emit_chunk(shader, one_block=one_block).text
        loads, stores = memory_accesses(explain(text)[0])
        rows.append((name, str(loads), str(stores)))
    page.add(Table(("arrays as", "vector loads left", "vector stores left"), rows))
    shader.unref()
