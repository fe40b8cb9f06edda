"""What a `[test]` section can say, one module per topic, gathered in one table.

Importing the topics fills `COMMANDS`; the order does not matter.
"""

from importlib import import_module

from gallette.piglit_subset.commands.registry import COMMANDS, Handler, lookup

__all__ = ["COMMANDS", "Handler", "lookup"]

_TOPICS = (
    "buffers",
    "calls",
    "draw",
    "framebuffers",
    "handles",
    "legacy",
    "link",
    "probes",
    "state",
)
for _topic in (*_TOPICS, "textures", "uniforms"):
    import_module(f"{__name__}.{_topic}")
