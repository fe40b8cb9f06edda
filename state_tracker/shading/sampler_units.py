"""Check that the samplers of programs agree on the type of each texture unit.

A texture unit has a texture for each target but serves one sampler type at a time: programs whose
samplers disagree can be linked, but fail validation and draws until the units differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.gl_types import sampler_target

if TYPE_CHECKING:
    from gallette.state_tracker.shading.programs import Executable


def sampler_conflict(executables: Iterable[Executable]) -> str:
    """Why these programs' samplers cannot be used together; "" if they can."""
    targets: dict[int, int] = {}
    for executable in executables:
        for stage, slots in executable.textures.items():
            info = executable.linked.shaders[stage].info
            for first, index, kind in slots:
                target = sampler_target(kind)
                for place, unit in enumerate(executable.uniforms.units[index], first):
                    if not info.uses_indirect_textures and place not in info.textures_used:
                        continue  # an element of an array that the shader does not read
                    if targets.setdefault(unit, target) != target:
                        return f"samplers of different types use texture unit {unit}"
        for _, kind, unit in executable.unit_places(image=False):
            if targets.setdefault(unit, sampler_target(kind)) != sampler_target(kind):
                return f"samplers of different types use texture unit {unit}"
    return ""
