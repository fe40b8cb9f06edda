"""simd: a driver for an execution-unit machine like the i965 family's, with a simulator.

Its packages: `isa` (instructions, their encoding and assembly), `backend` (NIR to instructions:
live ranges, allocation, scheduling), `machine` (a simulator that runs many threads at once),
`compile`, `screen`. Everything about drawing that is not code comes from `drivers.common`.
"""

from __future__ import annotations

from .screen import SimdScreen, create_screen

__all__ = ["SimdScreen", "create_screen"]
