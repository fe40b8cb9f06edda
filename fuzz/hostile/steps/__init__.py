"""What programs may do, by topic; each module adds its steps."""

from . import buffers, drawing, framebuffers, queries, shading, state, textures, vertices

__all__ = [
    "buffers",
    "drawing",
    "framebuffers",
    "queries",
    "shading",
    "state",
    "textures",
    "vertices",
]
