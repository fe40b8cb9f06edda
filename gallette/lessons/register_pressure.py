"""Lesson: eight channels or sixteen? What registers have to do with it."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.common.machine.register_picture import map_picture
from gallette.drivers.simd.backend.register_map import register_map
from gallette.drivers.simd.compile import BackendOptions, Compiled, compile_shader
from gallette.lessons.page import Page, Pictures, Table, lesson

__all__ = ["blur_of", "chosen_width", "measured"]

VERTEX = """
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}
"""


def blur_of(taps: int) -> str:
    """A fragment shader that holds `taps` texels at once: it needs their sum before each weight."""
    fetch = "\n".join(
        f"    vec4 t{k} = texelFetch(image, at + ivec2({k % 8}, {k // 8}), 0);" for k in range(taps)
    )
    total = " + ".join(f"t{k}" for k in range(taps))
    apart = " + ".join(f"abs(t{k} - mean) * {k + 1}.0" for k in range(taps))
    return f"""
#version 330
uniform sampler2D image;
out vec4 color;
void main() {{
    ivec2 at = ivec2(gl_FragCoord.xy);
{fetch}
    vec4 mean = ({total}) * {1 / taps:.8f};
    color = {apart};
}}
"""


def _shader(taps: int) -> Shader:
    from gallette.lessons.shaders import link

    linked = link({"vertex": VERTEX, "fragment": blur_of(taps)})
    fragment = linked.pop("fragment")
    for other in linked.values():
        other.unref()
    optimize(fragment, OptimizeOptions(scalar=True))
    return fragment


def measured(taps: int, width: int, registers: int = 128) -> Compiled:
    """The shader with so many texels, for so many channels."""
    shader = _shader(taps)
    try:
        options = BackendOptions(width=width, registers=registers, record=True)
        return compile_shader(shader, options)
    finally:
        shader.unref()


def chosen_width(taps: int) -> int:
    """What the compiler takes by itself."""
    return measured(taps, 0).executable.width


@lesson("register_pressure", "Register pressure: SIMD8 or SIMD16?", chapter="Machines", place=20)
def run(page: Page, driver: str) -> None:
    """Sixteen channels need twice the registers of eight, and spilling may cost more than it wins.

    The same shader with more and more values alive, both ways, and what the compiler chooses.
    """
    page.section(
        "The choice",
        """A thread has 128 registers of eight channels. A value for eight pixels takes one of
        them, for sixteen two. Sixteen pixels per thread halve the number of instructions that are
        fetched and decoded, and the latency of each is shared by twice as many pixels; but a
        shader that keeps many values alive runs out of registers at half the number. What has no
        register is spilled: written to scratch memory, and read back before each use.""",
    )
    rows: list[tuple[str, ...]] = []
    for taps in (4, 8, 12, 16, 24, 32):
        page.progress(f"compiling with {taps} texels")
        rows += _row(taps)
    page.section(
        "More and more values",
        """The shader fetches a number of texels, takes their mean, and weighs their distances from
        it: all of them are alive at once. Cycles are those of one thread that runs alone; per
        pixel they are divided by its channels.""",
    )
    columns = ("texels", "width", "registers", "spills", "instructions", "cycles per pixel", "")
    page.add(Table(columns, rows))
    page.section(
        "What the compiler does",
        """It compiles for sixteen channels first, and takes that if nothing was spilled. Otherwise
        it compiles for eight, spilling if it must. The table shows where that rule is right, and
        what it would cost to insist.""",
    )
    pictures = []
    for width in (16, 8):
        made = measured(16, width)
        assert made.allocation.virtual is not None
        table = register_map(made.allocation.virtual, made.allocation.places, "mask_aware")
        pictures.append(
            (f"16 texels, SIMD{width}: {made.registers} registers", map_picture(table, 3))
        )
    page.section(
        "Registers over time",
        "Rows are registers, columns instructions; a colour is a value, white is free.",
    )
    page.add(Pictures(pictures))
    page.ask(
        "Twice the registers would let every shader run in SIMD16. Why not build that?",
        """Registers are the largest part of an execution unit, and a thread that is waiting for
        memory keeps its own. More registers per thread are fewer threads to switch to.""",
    )
    page.ask(
        "Why does spilling hurt more than its number of instructions suggests?",
        "Each is a message to memory and back, with hundreds of cycles in which the thread waits.",
    )
    page.tries(
        ("gallette shader-db my_tests --driver simd", "registers, spills and cycles of a corpus"),
        ("gallette explain shader.frag --driver simd", "the code, and its register map"),
    )


def _row(taps: int) -> Iterator[tuple[str, ...]]:
    chosen = chosen_width(taps)
    for width in (16, 8):
        try:
            made = measured(taps, width)
        except GalletteError as error:
            yield (str(taps), f"SIMD{width}", str(error), "", "", "", "")
            continue
        yield (
            str(taps),
            f"SIMD{width}",
            str(made.registers),
            str(made.allocation.spills),
            str(made.instructions),
            f"{made.cycles / width:.1f}",
            "chosen" if width == chosen else "",
        )
