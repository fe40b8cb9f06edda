"""Initialisers become stores at the start of `main`."""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass

_WRITABLE = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT


@nir_pass("lower_variable_initializers", preserves=Metadata.CONTROL_FLOW)
def lower_variable_initializers(shader: Shader, *, modes: int = int(_WRITABLE)) -> bool:
    """Initialise variables with code instead of data.

    Before: `var shader_temp float x (constant_initializer=(0x3f800000,))`
    After: `store_deref(&x, 1.0)` first in main (locals: in their function).
    Constant arrays that are only read should keep their data; see `lower_constant_arrays`.
    """
    progress = False
    for impl in shader.impls():
        variables: list[Variable] = list(impl.locals)
        if impl.function.is_entry:
            variables = shader.variables + variables
        wanted = [v for v in variables if v.constant_initializer is not None and v.mode & modes]
        if wanted:
            b = Builder(impl).at_start(impl.first)
            for var in wanted:
                assert var.constant_initializer is not None
                store_constant(b, b.deref_var(var), var.constant_initializer)
                var.constant_initializer = None
                progress = True
    return progress


def store_constant(b: Builder, deref: Deref, value: Any) -> None:
    """Store nested constant tuples into everything below `deref`."""
    t = deref.type
    if t.is_vector_or_scalar:
        b.store_deref(deref, b.const(value, t.bit_size))
        return
    for i, part in enumerate(value):
        child = b.deref_struct(deref, i) if t.is_struct else b.deref_array_imm(deref, i)
        store_constant(b, child, part)
