"""The scenes: moderngl scripts that yield a picture per pass, one file each.

Importing this package registers them all; `SCENES` has them by name.
"""

from gallette.scenes import (
    blur,
    cutaway,
    deferred,
    depth_prepass,
    gradient,
    instances,
    life,
    lines_points,
    lit_mesh,
    mandelbrot,
    normals,
    particles,
    reflection,
    shadow_map,
    terrain,
    textured_quads,
    transparency,
    volume,
    waiting_lanes,
)
from gallette.scenes.common import SCENES, Pass, Scene

__all__ = [
    "SCENES",
    "Pass",
    "Scene",
    "blur",
    "cutaway",
    "deferred",
    "depth_prepass",
    "gradient",
    "instances",
    "life",
    "lines_points",
    "lit_mesh",
    "mandelbrot",
    "normals",
    "particles",
    "reflection",
    "shadow_map",
    "terrain",
    "textured_quads",
    "transparency",
    "volume",
    "waiting_lanes",
]
