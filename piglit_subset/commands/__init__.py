"""The commands of `[test]` sections, one module per topic, in one table.

Importing the topics fills `COMMANDS`; the order does not matter.
"""

from importlib import import_module
from pkgutil import iter_modules

from gallette.piglit_subset.commands.registry import COMMANDS, Handler, lookup

__all__ = ["COMMANDS", "Handler", "lookup"]

for _topic in iter_modules(__path__):
    import_module(f"{__name__}.{_topic.name}")
