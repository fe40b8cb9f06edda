"""Checks the context's limit of shared memory in a workgroup."""

from __future__ import annotations

from gallette.compiler.errors import CompileError
from gallette.compiler.nir.builder.address import explicit_root
from gallette.compiler.nir.ir.layout import SCALAR, explicit_size
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import derefs_of
from gallette.compiler.nir.ir.shader import Shader


def check_shared_memory(shader: Shader, most: int) -> None:
    """Raise an error that names the limit if the shared variables in use exceed it."""
    if not shader.variables_of(Mode.SHARED):
        return
    used = {deref.var for deref in derefs_of(shader) if deref.var is not None}
    types = [var.type for var in used if var.mode == Mode.SHARED]
    size = sum(explicit_size(explicit_root(type, SCALAR)) for type in types)
    if size > most:
        raise CompileError(
            f"the compute shader uses {size} bytes of shared memory, "
            f"GL_MAX_COMPUTE_SHARED_MEMORY_SIZE is {most}"
        )
