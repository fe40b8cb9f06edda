"""jit: a driver that compiles shaders to machine code with LLVM.

Its packages: `llvm` (IR as text, code generation, the cache of object files), `shader` (NIR to LLVM
IR), `program` (compiled shaders as programs of the shared draw code), `screen`. Everything about
drawing that is not code comes from `drivers.common`.
"""

from __future__ import annotations

from .screen import JitScreen, create_screen

__all__ = ["JitScreen", "create_screen"]
