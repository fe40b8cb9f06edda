"""The lesson: what a compiler knows about memory while accesses are still chains of derefs."""

from __future__ import annotations

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassSpec, recording, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.scenes.common import shaders

KERNELS = shaders(__file__)
HEAD = KERNELS.pop("head")
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
_START: tuple[PassSpec, ...] = (("lower_io", {"modes": int(Mode.UNIFORM)}), *_CLEAN)
_LOWER: tuple[PassSpec, ...] = ("lower_io", *_CLEAN, "algebraic")


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
