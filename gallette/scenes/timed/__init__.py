"""Scenes that are made to be timed.

Each function registered with `@benchmark` prepares everything and answers a `draw()` that draws one
frame. What is timed is `draw()` plus reading the picture back, because a driver that postpones work
would otherwise look fast.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
