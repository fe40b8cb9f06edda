"""The scenes: moderngl scripts that yield a picture per pass, one file each, and their shaders.

Importing this package registers them all; `SCENES` has them by name. `BENCHMARKS` has those
of `scenes.timed`, which are made to be timed.
"""

from importlib import import_module
from pkgutil import iter_modules

from gallette.scenes.common import BENCHMARKS, SCENES, Pass, Scene, find_scene

__all__ = ["BENCHMARKS", "SCENES", "Pass", "Scene", "find_scene"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
