"""The lesson: reading NIR, one shader in five forms."""

from __future__ import annotations

import re

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassRecord, recording
from gallette.scenes.common import shaders

GLSL = shaders(__file__)
SHADER = GLSL["fragment"]

# How to read a line: (a pattern, the meaning); an example is looked for in the shader itself.
READING: tuple[tuple[str, str], ...] = (
    (r"^shader .*", "the stage and a name"),
    (r"^var shader_in .*", "a variable of the stage's inputs, with its type and slot"),
    (r".*= deref_var .*", "not a value but a place: where a variable is"),
    (r".*@load_deref.*", "an intrinsic (`@`) reads from a place; the result has 2 times 32 bits"),
    (r".*= load_const .*", "a constant, in bits; the comment shows it as a float"),
    (r".*= fmul .*", "arithmetic: `%n` are values, `.x` chooses a component"),
    (r".*= flt!? .*", "a comparison gives one bit"),
    (r"^ *if .*", "control flow is structured: an `if` has two bodies of blocks"),
    (r".*= phi .*", "where ways meet: the value is this if we came from that block"),
    (r".*@store_output.*", "what the driver sees at the end: a numbered output, which components"),
)
STEPS = ("lower_vars_to_ssa", "peephole_select", "lower_io")


def forms(source: str = SHADER) -> tuple[list[PassRecord], str]:
    """Every pass that changed the shader, and its last form: scalar code."""
    from gallette.compiler.nir.text.printer import print_shader

    with recording() as log:
        shader = compile_shader(Stage.FRAGMENT, source, CompileOptions())
        program = link_program([shader], LinkOptions(separable=True))
        linked = program.shaders[Stage.FRAGMENT]
        optimize(linked, OptimizeOptions(scalar=True))
    last = print_shader(linked)
    linked.unref()
    return log.made_progress(), last


def examples(texts: list[str]) -> list[tuple[str, ...]]:
    """For every kind of line, its first occurrence in the texts, and its meaning."""
    rows: list[tuple[str, ...]] = []
    for pattern, meaning in READING:
        for text in texts:
            found = re.search(pattern, text, re.M)
            if found:
                rows.append((f"`{found[0].strip()}`", meaning))
                break
    return rows
