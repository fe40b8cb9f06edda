"""Every instruction of one invocation, with its value: `gallette debug`.

`invocation` finds a fragment, vertex or compute invocation in a real run, `environment` gives the
reference interpreter the inputs of that invocation, `tracer` records what it computes, `records`
are the records, `terminal` steps through them.
"""

from gallette.debugger.invocation import debug_fragment, debug_invocation, debug_vertex
from gallette.debugger.records import Session, Step, Watched

__all__ = [
    "Session",
    "Step",
    "Watched",
    "debug_fragment",
    "debug_invocation",
    "debug_vertex",
]
