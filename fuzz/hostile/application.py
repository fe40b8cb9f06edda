"""What an application must see to itself: that its pointers lead somewhere.

Offsets into buffers are pointers where no buffer is bound, which a program here cannot tell while
it is written: some call before may have failed. Such calls get no pointer, or are left out.
"""

from __future__ import annotations

from typing import Any

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context

__all__ = ["harmless"]

_UPLOADS = ("tex_image", "tex_sub_image", "texture_sub_image", "compressed_tex")


def harmless(gl: Context, name: str, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments with pointers that lead somewhere; None: better not called."""
    if "draw_" in name:
        if name.endswith(("_indirect", "_indirect_count")):
            bound = gl.buffers.bound[GL.DRAW_INDIRECT_BUFFER]
            return args if gl.is_core or bound is not None else None
        if "elements" in name and gl.arrays.current.element_buffer is None:
            return None
    elif name == "read_pixels" and len(args) > 6:
        return args if gl.buffers.bound[GL.PIXEL_PACK_BUFFER] is not None else args[:6]
    elif name.startswith(_UPLOADS) and gl.buffers.bound[GL.PIXEL_UNPACK_BUFFER] is not None:
        return (*args[:-1], 0 if args[-1] is None else len(args[-1]) % 64)
    return args
