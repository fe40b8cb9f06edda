"""What of the bound state is written into a module, beyond what NIR passes lower."""

from __future__ import annotations

from dataclasses import dataclass

from gallette.pipe.state import StreamOutputInfo

__all__ = ["EmitOptions"]


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """Options of one variant."""

    clip_mask: int = 0  # clip distances that are in force
    point_size: str = ""  # "state" or "vertex": where the size of points comes from
    upper_left: bool = True  # the origin of point coordinates
    color_buffers: int = 1  # where a colour for every buffer goes
    zero_inputs: tuple[int, ...] = ()  # slots that the stage before does not write
    stipple: bool = False  # polygon stipple
    sample_shading: bool = False
    alpha_to_red: bool = False  # colour buffer 0 stores alpha as red
    swizzles: tuple[tuple[int, tuple[int, int, int, int]], ...] = ()  # of depth comparisons
    quads: str = ""  # "halves" or "one": what triangles of the device are one primitive of OpenGL
    block: tuple[int, int, int] | None = None  # the workgroup's size, where it is a draw's choice
    stream_output: StreamOutputInfo | None = None
