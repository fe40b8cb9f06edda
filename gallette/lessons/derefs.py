"""The lesson: what a compiler knows about memory while accesses are still chains of derefs."""

from __future__ import annotations

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassSpec, recording, run_passes
from gallette.compiler.nir.text.parser import parse

__all__ = ["HEAD", "KERNELS", "MORALS", "accesses", "both_ways"]

HEAD = """#version 430
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
    "a struct, copied and changed": """void main() {
    Item mine = items[i];
    mine.b = mine.a + 1.0;
    items[i] = mine;
    color = vec4(items[i].a, items[i].b, 0.0, 1.0);
}
""",
    "two members in a loop": """void main() {
    for (int k = 0; k < 4; k++) {
        items[k].a = float(k);
        items[k].b = items[k].a * 2.0;
    }
    color = vec4(items[3].b);
}
""",
    "behind a branch": """void main() {
    float before = items[i].a;
    if (before > 0.0) {
        items[i].b = before;
    }
    color = vec4(items[i].a);
}
""",
    "past a store of unknown place": """void main() {
    float x = total;
    items[j].b = x;
    items[i].b = x * 2.0;
    color = vec4(x + total);
}
""",
    "just stored": """void main() {
    total = float(i);
    items[j].a = 2.0;
    color = vec4(total);
}
""",
}
MORALS = {
    "another member": "`a` and `b` of the same element are different places: the second load of `a`"
    " is not needed.",
    "overwritten": "The first value of `b` is never read: the load between the stores is of `a`.",
    "another element": "3 and 4 are constants, and different.",
    "may be the same element": "`i` and `j` may be equal, so both ways load again. Nobody guesses.",
    "a struct, copied and changed": "What was just stored need not be loaded.",
    "two members in a loop": "`a` was just stored; a store to `b` leaves it alone.",
    "behind a branch": "Whichever way was taken, `a` was not written.",
    "past a store of unknown place": "An element of `items` is not `total`, wherever it is.",
    "just stored": "`total` lies outside the array, so the store to the array leaves it alone.",
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
        shader = compile_shader(Stage.FRAGMENT, HEAD + body, options)
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
    """The shader optimised as derefs and then lowered, and lowered first and then optimised."""
    text = front_end_form(body)
    with_derefs, offsets = parse(text), parse(text)
    run_passes(with_derefs, [*_START, *_MEMORY, *_LOWER, *_MEMORY])
    run_passes(offsets, [*_START, *_LOWER, *_MEMORY])
    return with_derefs, offsets
