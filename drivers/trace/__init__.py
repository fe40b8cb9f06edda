"""trace: wraps any driver and records every call as one JSON line.

    GALLETTE_TRACE=frame.jsonl GALLETTE_DRIVER=trace:numpipe ...

Each line is an object: `n` counts calls, `call` names the method, `on` the screen or context,
`args` the arguments by name, `result` the result, `error` an exception that was raised instead,
`us` the time it took. State is written as its fields that differ from the defaults; resources,
shaders and state handles as names such as `resource#3`; bulk data as its length and a hash.
"""

from __future__ import annotations

from .context import TraceContext
from .screen import TraceScreen, create_screen
from .writer import TraceWriter

__all__ = ["TraceContext", "TraceScreen", "TraceWriter", "create_screen"]
