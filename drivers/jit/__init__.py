"""jit: a driver that makes machine code of shaders, with LLVM.

Its rooms: `llvm` (IR as text, machine code, the disk cache), `shader` (NIR to LLVM IR), `program`
(compiled shaders as the shared draw room calls them), `screen`. Everything about drawing that is
not code comes from `drivers.common`.
"""

from __future__ import annotations

from .screen import JitScreen, create_screen

__all__ = ["JitScreen", "create_screen"]
