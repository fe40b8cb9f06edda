"""noop: accepts every call and draws nothing; resources, copies and transfers work.

A frame's time on this driver is the cost of the state tracker. It also checks the caller's side of
the contract: a handle must be bound and deleted as the kind of state it was created as, and not be
used after its deletion, and a context may not be destroyed with live shaders.
"""

from __future__ import annotations

from .context import NoopContext
from .screen import NoopScreen, create_screen

__all__ = ["NoopContext", "NoopScreen", "create_screen"]
