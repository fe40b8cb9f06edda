"""noop: accepts everything and draws nothing; resources, copies and transfers work.

What is left of a frame's time on this driver is what the state tracker costs. It also checks the
callers' side of the contract: a handle must be bound and deleted as what it was created as, never
after its deletion, and a context may not end with shaders alive.
"""

from __future__ import annotations

from .context import NoopContext
from .screen import NoopScreen, create_screen

__all__ = ["NoopContext", "NoopScreen", "create_screen"]
