"""What a `[test]` section can say, one module per topic, gathered in one table.

Importing the topics fills `COMMANDS`; the order does not matter.
"""

from gallette.piglit_subset.commands import (
    buffers,
    calls,
    draw,
    framebuffers,
    handles,
    legacy,
    link,
    probes,
    state,
    textures,
    uniforms,
)
from gallette.piglit_subset.commands.registry import COMMANDS, Handler, lookup

__all__ = [
    "COMMANDS",
    "Handler",
    "buffers",
    "calls",
    "draw",
    "framebuffers",
    "handles",
    "legacy",
    "link",
    "lookup",
    "probes",
    "state",
    "textures",
    "uniforms",
]
