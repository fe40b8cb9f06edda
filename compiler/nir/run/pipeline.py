"""The standard sequences of passes, from a front end's output to a driver's input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gallette.compiler.errors import CompileError
from gallette.compiler.nir.ir.cf import nested_blocks
from gallette.compiler.nir.ir.modes import TEMPORARIES, Mode, Stage
from gallette.compiler.nir.ir.queries import by_kind, const_int, derefs_in
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.run.optimize import DEFAULT, OptimizeOptions, canonicalize, optimize
from gallette.compiler.nir.run.pass_runner import PassList, PassLog, run_pass, run_passes
from gallette.compiler.work_limits import MOST_LOCALS, check_nesting

INLINE = PassList(
    (
        "lower_variable_initializers",
        "lower_returns",
        "inline_functions",
        "opt_deref",
        "propagate_invariant",
        "lower_outputs_to_temporaries",
    )
)
"""Inlines all functions into one, which writes outputs at its end."""

TO_SSA = PassList(
    (
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
"""Replaces variables by SSA values."""

FRONT_END = PassList(INLINE + TO_SSA)
"""From derefs and calls to one function in SSA form."""

LOWER_IO = PassList(
    (
        "lower_array_deref_of_vec",
        ("lower_indirect_derefs", {"packed": True}),
        "lower_io",
    )
)
"""Lowers interface variables to slots, block offsets and units."""


def _has_memory(shader: Shader) -> bool:
    """Whether there are variables that are written and read again."""
    if shader.stage is Stage.TESS_CTRL or shader.variables_of(TEMPORARIES):
        return True  # outputs of tessellation control shaders are read by other invocations
    return any(impl.locals or by_kind(impl).modes & _MEMORY for impl in shader.impls())


_MEMORY = int(Mode.SSBO | Mode.SHARED | Mode.GLOBAL)


def needs_folding(shader: Shader) -> bool:
    """Whether optimising first may help lowering, such as by making an index constant."""
    for impl in shader.impls():
        if "array" in by_kind(impl).forms:
            for deref in derefs_in(impl):
                if deref.form == "array" and const_int(deref.srcs[1].value) is None:
                    return True
    return False


def _check_nesting(impl: FunctionImpl) -> None:
    if len(impl.body) > 1:
        depths = [(depth, loops) for _, depth, loops in nested_blocks(impl.body)]
        check_nesting(impl.function.name, max(d for d, _ in depths), max(n for _, n in depths))


def _check_locals(shader: Shader) -> None:
    count = sum([var.type.scalar_count for var in shader.entry.locals])
    if count > MOST_LOCALS:
        raise CompileError(
            f"the local variables of the {shader.stage.value} shader that lie in memory have "
            f"{count} components, at most {MOST_LOCALS} are supported"
        )


def to_driver_form(
    shader: Shader, options: OptimizeOptions = DEFAULT, log: PassLog | None = None
) -> None:
    """Run everything that a front end runs on one stage before linking it with the others."""
    for impl in shader.impls():
        _check_nesting(impl)
    run_passes(shader, INLINE, log)
    if _has_memory(shader):
        run_passes(shader, TO_SSA, log)
    _check_locals(shader)
    if needs_folding(shader):
        canonicalize(shader, options, log)
    run_passes(shader, LOWER_IO, log)
    canonicalize(shader, options, log)


def link_driver_forms(
    shaders: Iterable[Shader],
    chain: Sequence[Shader],
    keep: frozenset[int] = frozenset(),
    options: OptimizeOptions = DEFAULT,
) -> None:
    """Remove outputs and inputs that neighbours in `chain` do not use; then optimise all
    `shaders`.

    `keep` lists output slots that transform feedback captures.
    """
    for producer, consumer in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if link_varyings(producer, consumer, keep=keep):
            canonicalize(producer, options)
    for shader in shaders:
        optimize(shader, options)
        run_pass(shader, "gather_info")
        if shader.info.uses_indirect_textures and run_pass(shader, "opt_texture_index"):
            run_pass(shader, "gather_info")
