"""Lesson: what a compiler still knows about memory while accesses are chains of derefs."""

from __future__ import annotations

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassSpec, recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Code, Diff, Page, Table, lesson

__all__ = ["KERNELS", "accesses", "both_ways"]

_HEAD = """#version 430
struct Item { float a; float b; };
layout(std430, binding = 0) buffer Data { Item items[16]; float total; };
uniform int i;
uniform int j;
out vec4 color;
"""
KERNELS: dict[str, str] = {
    "another member": """void main() {
    float before = items[i].a;
    items[i].b = 2.0;
    color = vec4(before + items[i].a);
}
""",
    "overwritten": """void main() {
    items[i].b = 1.0;
    float x = items[i].a;
    items[i].b = 2.0;
    color = vec4(x);
}
""",
    "another element": """void main() {
    float before = items[3].a;
    items[4].a = 2.0;
    color = vec4(before + items[3].a);
}
""",
    "may be the same element": """void main() {
    float before = items[i].a;
    items[j].a = 2.0;
    color = vec4(before + items[i].a);
}
""",
    "just stored": """void main() {
    total = float(i);
    items[j].a = 2.0;
    color = vec4(total);
}
""",
}
_CLEAN: tuple[PassSpec, ...] = ("copy_prop", "cse", "dce")
_MEMORY: tuple[PassSpec, ...] = ("opt_copy_prop_vars", "opt_dead_write_vars", *_CLEAN)
# Uniform loads become comparable first: it is about storage buffers here.
_START: tuple[PassSpec, ...] = ("lower_uniforms_to_ubo", *_CLEAN)
_LOWER: tuple[PassSpec, ...] = ("lower_buffer_derefs", *_CLEAN, "algebraic")


def front_end_form(body: str) -> str:
    """The shader in SSA with its memory accesses still derefs, as NIR text."""
    with recording() as log:
        options = CompileOptions(version_limit=430)
        shader = compile_shader(Stage.FRAGMENT, _HEAD + body, options)
        program = link_program([shader], LinkOptions(separable=True))
    for linked in program.shaders.values():
        linked.unref()
    # What the first pass that knows memory was given.
    return next(r.before for r in log.records if r.name == "opt_copy_prop_vars")


def accesses(shader: Shader) -> tuple[int, int]:
    """Loads and stores of storage buffers, as the driver would execute them."""
    names = [
        instr.name
        for impl in shader.impls()
        for block in impl.blocks()
        for instr in block.instrs()
        if isinstance(instr, Intrinsic)
    ]
    return names.count("load_ssbo"), names.count("store_ssbo")


def both_ways(body: str) -> tuple[Shader, Shader]:
    """(optimised as derefs and then lowered, lowered first and then optimised)."""
    text = front_end_form(body)
    with_derefs, offsets = parse(text), parse(text)
    run_passes(with_derefs, [*_START, *_MEMORY, *_LOWER, *_MEMORY])
    run_passes(offsets, [*_START, *_LOWER, *_MEMORY])
    return with_derefs, offsets


@lesson("derefs", "Derefs: what a compiler can know about memory")
def run(page: Page, driver: str) -> None:
    """Writing `items[i].b` leaves `items[i].a` alone: visible in a deref chain, lost in an offset.

    The same kernels are optimised before and after their accesses become byte offsets.
    """
    page.section(
        "Chains",
        """An access to memory is a chain of deref instructions: a variable, an array element, a
        struct member. Each link says what it may point to, so two chains can be compared:
        different members never overlap, different constant elements neither, and two dynamic
        elements may. Once the chain is lowered to a byte offset, all that is left is
        arithmetic.""",
    )
    first = KERNELS["another member"]
    page.add(Code((_HEAD + first).strip(), "glsl", "the second load of `a` is not needed"))
    with_derefs, offsets = both_ways(first)
    caption = "optimised as offsets (-), optimised as derefs and then lowered (+)"
    page.add(Diff(print_shader(offsets), print_shader(with_derefs), caption))
    rows: list[tuple[str, ...]] = []
    for shader in (with_derefs, offsets):
        shader.unref()
    for name, body in KERNELS.items():
        page.progress(name)
        with_derefs, offsets = both_ways(body)
        counts = [accesses(offsets), accesses(with_derefs)]
        rows.append((name, *(f"{loads} loads, {stores} stores" for loads, stores in counts)))
        with_derefs.unref()
        offsets.unref()
    page.section("The same kernels both ways")
    page.add(Table(("kernel", "as offsets", "as derefs"), rows))
    page.section(
        "What decides it",
        """How a pointer is represented (an offset, an index and an offset, an address) is the
        driver's choice per kind of memory, and it should be made late: what is removed while
        derefs exist need not be addressed at all. The row where two elements may be the same
        keeps its load both ways: the optimiser only does what it can prove.""",
    )
