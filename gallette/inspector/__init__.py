"""The frame debugger: everything a run's draws did, in a local web page.

`observe` replays a capture once and writes down what each draw had and made (`frames` are the
records, `mesh`, `surfaces` and `state` look at one thing each); `programs` shows how
a shader compiles; `server` serves the page and answers its questions about pixels, invocations and
edits; `export` puts the read-only part into one file. The page itself is in `assets`.
"""

from gallette.inspector.frames import Frame
from gallette.inspector.observe import observe

__all__ = ["Frame", "observe"]
