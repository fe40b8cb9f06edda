"""tiler: a driver for a machine that bins primitives and shades tile by tile, with a simulator.

Its packages: `isa` (a scalar instruction set, encoding and assembly), `backend` (NIR to
instructions: registers, delays, flags), `machine` (a simulator of all channels at once), `compile`,
`context` (render passes: bins, then tiles), `screen`. Everything about drawing that is not code or
order comes from `drivers.common`.
"""

from __future__ import annotations

from .screen import TilerScreen, create_screen

__all__ = ["TilerScreen", "create_screen"]
