"""The standard sequences of passes, from front-end output to what a driver receives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gallette.compiler.effort import MOST_LOCALS, check_nesting
from gallette.compiler.errors import CompileError
from gallette.compiler.nir.analysis.census import DYNAMIC
from gallette.compiler.nir.ir.cf import nested_blocks
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.questions import const_int, instrs_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.run.optimize import DEFAULT, OptimizeOptions, canonicalize, optimize
from gallette.compiler.nir.run.pass_runner import Found, PassLog, PassSequence, run_pass, run_passes

FRONT_END = PassSequence(
    (
        "lower_variable_initializers",
        "lower_returns",
        "inline_functions",
        "opt_deref",
        "propagate_invariant",
        "lower_outputs_to_temporaries",
        "lower_global_vars_to_local",
        "lower_var_copies",
        "split_struct_vars",
        "lower_array_deref_of_vec",
        "lower_vars_to_ssa",
        "opt_copy_prop_vars",
        "opt_dead_write_vars",
        "remove_dead_variables",
    )
)
"""From derefs and calls to one function in SSA form."""

LOWER_IO = PassSequence(
    (
        "lower_array_deref_of_vec",
        "lower_system_values",
        ("lower_indirect_derefs", {"packed": True}),
        "lower_io",
        "lower_64bit_io",
        "lower_uniforms_to_ubo",
        "lower_buffer_derefs",
        "lower_samplers",
    )
)
"""From interface variables to slots, block offsets and units."""


def needs_folding(shader: Shader, found: Found) -> bool:
    """May optimising show lowering something it would not see: an index that becomes constant?"""
    if found.words is not None and DYNAMIC not in found.words:
        return False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if instr.__class__ is Deref and instr.form == "array":
                if const_int(instr.array_index.value) is None:
                    return True
    return False


def _check_nesting(impl: FunctionImpl) -> None:
    if len(impl.body) > 1:
        depths = [(depth, loops) for _, depth, loops in nested_blocks(impl.body)]
        check_nesting(impl.function.name, max(d for d, _ in depths), max(n for _, n in depths))


def _check_locals(shader: Shader) -> None:
    count = sum(var.type.scalar_count for var in shader.entry.locals)
    if count > MOST_LOCALS:
        raise CompileError(
            f"the local variables of the {shader.stage.value} shader that lie in memory have "
            f"{count} components, at most {MOST_LOCALS} are supported"
        )


def to_driver_form(
    shader: Shader,
    options: OptimizeOptions = DEFAULT,
    log: PassLog | None = None,
    found: Found | None = None,
) -> None:
    """Everything a front end runs on one stage before linking it with the others.

    `found`: what the front end knows it has made.
    """
    found = found or Found()
    for impl in shader.impls():
        _check_nesting(impl)
    run_passes(shader, FRONT_END, log, found)
    _check_locals(shader)
    if needs_folding(shader, found):
        canonicalize(shader, options, log)
    run_passes(shader, LOWER_IO, log, found)
    canonicalize(shader, options, log)


def link_driver_forms(
    shaders: Iterable[Shader],
    chain: Sequence[Shader],
    keep: frozenset[int] = frozenset(),
    options: OptimizeOptions = DEFAULT,
) -> None:
    """Neighbours in `chain` drop what the other does not need; then all `shaders` are optimised.

    `keep` lists output slots captured by transform feedback.
    """
    for producer, consumer in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if link_varyings(producer, consumer, keep=keep):
            canonicalize(producer, options)
    for shader in shaders:
        optimize(shader, options)
        run_pass(shader, "gather_info")
        if shader.info.uses_indirect_textures and run_pass(shader, "opt_texture_index"):
            run_pass(shader, "gather_info")
