"""Lesson: what a compiler still knows about memory while accesses are chains of derefs."""

from __future__ import annotations

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassSpec, recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Block, Code, Diff, Page, Prose, Table, lesson

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
_COLUMNS = ("kernel", "as offsets", "as derefs")
_MORALS = {
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


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@lesson("derefs", "Derefs: what a compiler can know about memory", chapter="The compiler", place=20)
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
    page.add(Code(_HEAD.strip(), "glsl", "what every kernel below begins with"))
    page.section(
        "Kernels",
        """Each was compiled twice. Lines in red are what is left when accesses become offsets
        first and are optimised then; green, when they are optimised as derefs and lowered
        after.""",
    )
    rows: list[tuple[str, ...]] = []
    states: list[tuple[str, list[Block]]] = []
    for name, body in KERNELS.items():
        page.progress(name)
        with_derefs, offsets = both_ways(body)
        counts = [accesses(offsets), accesses(with_derefs)]
        rows.append((name, *(f"{_many(a, 'load')}, {_many(b, 'store')}" for a, b in counts)))
        caption = "optimised as offsets (-), optimised as derefs and then lowered (+)"
        diff = Diff(print_shader(offsets), print_shader(with_derefs), caption)
        moral = Prose(_MORALS.get(name, ""))
        states.append((name, [Code(body.strip(), "glsl"), Table(_COLUMNS, rows[-1:]), moral, diff]))
        with_derefs.unref()
        offsets.unref()
    page.flip("the kernel", *states)
    page.section("The same kernels both ways")
    page.add(Table(_COLUMNS, rows))
    page.section(
        "What decides it",
        """How a pointer is represented (an offset, an index and an offset, an address) is the
        driver's choice per kind of memory, and it should be made late: what is removed while
        derefs exist need not be addressed at all. The row where two elements may be the same
        keeps its load both ways: the optimiser only does what it can prove.""",
    )
    page.ask(
        "Why not keep derefs to the very end?",
        """Because addresses are arithmetic, and arithmetic can be optimised too: common parts of
        two addresses, constant offsets folded into the load. The order is derefs first, then
        addresses, and each gets its own optimisations.""",
    )
    page.ask(
        "Two different buffers are bound to different points. May they overlap?",
        """In OpenGL, yes: the application may bind the same memory twice. Only `restrict` promises
        that it did not.""",
    )
    page.tries(
        ("gallette explain shader.frag --html explain.html", "see where derefs become offsets"),
        (
            "gallette nir-opt kernel.nir -p opt_copy_prop_vars,opt_dead_write_vars --each",
            "the two passes that know memory, on a text",
        ),
    )
