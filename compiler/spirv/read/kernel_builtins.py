"""Built-ins of kernels that no system value holds."""

from __future__ import annotations

from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.read.declarations import SpvType
from gallette.compiler.spirv.read.places import Place

__all__ = ["kernel_builtin"]


def kernel_builtin(name: str, type: SpvType) -> Place:
    """The place of a kernel's built-in."""
    raise SpirvError(f"built-in {name} is not supported here")
