"""The frame debugger: everything a run's draws did, in a local web page.

`observe` replays a capture once and records the inputs and results of each draw (`frames` are the
records; `mesh`, `surfaces` and `state` record one aspect each); `programs` shows how a shader
compiles; `server` serves the page and its requests about pixels, invocations and edits; `export`
writes the read-only part to one file. The page itself is in `assets`.
"""

from gallette.inspector.frames import Frame
from gallette.inspector.observe import observe

__all__ = ["Frame", "observe"]
