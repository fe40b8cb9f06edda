"""The block of 64-bit words through which compiled code reaches everything it was bound to.

One block serves one call (a chunk of lanes, or the tiles of a draw). Addresses come with sizes, so
that compiled code can keep every access inside.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Words"]


class Words:
    """Where in the block what is."""

    STATUS: Final = 0  # becomes non-zero when a shader ran past its budget
    BUDGET: Final = 1  # loop iterations a vector of lanes may spend
    ZEROS: Final = 2  # 256 bytes of zeros: what lies outside
    COUNT: Final = 3  # lanes of the call
    DRAW: Final = 4  # the description of the draw (tiles)
    CALLBACK: Final = 5  # the function for what is not compiled
    UNIFORMS: Final = 6  # scalars that go with the call: system values, clip planes
    SHARED: Final = 7  # workgroup memory
    SHARED_SIZE: Final = 8
    CALL_AREA: Final = 9  # where arguments and results of the callback lie
    CONSTANTS: Final = 16  # address and size of each constant block
    BUFFERS: Final = CONSTANTS + 2 * 16  # address and size of each storage buffer
    TEXTURES: Final = BUFFERS + 2 * 32  # address of each texture's description
    IMAGES: Final = TEXTURES + 64
    INPUTS: Final = IMAGES + 16  # an array of values by lane for each input
    OUTPUTS: Final = INPUTS + 256
    SIZE: Final = OUTPUTS + 256
