"""The words that machine code and Python share while calls are recorded (see `recording`).

`Word` numbers them. From `FIRST_STATE` on they say what the context's state will be once all that
was recorded has been replayed; a record of a draw is `HEADER` words (which function, its five
arguments), a copy of the `COPIED` words of state, and the bytes of its program's uniforms. That of
a clear has no uniforms; of what else leaves a record (`RECORDS`) the header is all that counts.
"""

from __future__ import annotations

from enum import IntEnum

from gallette.state_tracker.entry_points.enums import GL

__all__ = [
    "BOUND",
    "BOXES",
    "CAPABILITIES",
    "COPIED",
    "DRAWS",
    "FIRST_STATE",
    "FRAMEBUFFER_WORDS",
    "HEADER",
    "MOST_ARRAYS",
    "MOST_BUFFERS",
    "MOST_DRAW_BUFFERS",
    "MOST_FRAMEBUFFERS",
    "MOST_LOCATIONS",
    "MOST_POINTS",
    "MOST_PROGRAMS",
    "MOST_QUERIES",
    "MOST_TEXTURES",
    "MOST_WRITTEN",
    "PROGRAM_WORDS",
    "RECORDS",
    "SAMPLES_PASSED",
    "TEXTURE_2D",
    "TEXTURE_UNIT_0",
    "UNIFORM_BUFFER",
    "UNIFORM_UNIT",
    "UNITS",
    "WORDS",
    "Word",
    "uniform_kind",
]

FIRST_STATE = 34
COPIED = 40
HEADER = 6
WORDS = FIRST_STATE + COPIED
UNITS = 16
"""Texture units whose two-dimensional textures are recorded."""

MOST_ARRAYS, MOST_TEXTURES, MOST_BUFFERS, MOST_QUERIES = 1024, 4096, 4096, 4096
MOST_PROGRAMS, MOST_LOCATIONS = 1024, 1024
"""Names and locations from there on go the long way."""

MOST_WRITTEN = 1 << 14
"""Bytes of a buffer that are written: more of them go the long way."""

PROGRAM_WORDS = 4
MOST_FRAMEBUFFERS, MOST_DRAW_BUFFERS = 256, 8
FRAMEBUFFER_WORDS = 1 + MOST_DRAW_BUFFERS // 2
MOST_POINTS, UNIFORM_UNIT = 4, 16
"""Binding points of uniform blocks that are recorded, and what offsets are multiples of."""

UNIFORM_BUFFER = int(GL.UNIFORM_BUFFER)
TEXTURE_2D, TEXTURE_UNIT_0 = int(GL.TEXTURE_2D), int(GL.TEXTURE0)
SAMPLES_PASSED = int(GL.SAMPLES_PASSED)


class Word(IntEnum):
    """What each word holds."""

    THREAD = 0  # the identifier of the thread that is recorded; 0: none is
    PENDING = 1  # has anything been noted?
    NEXT = 2  # the address of the next record
    END = 3  # from which address on there is no room for one
    # Of the program in use, `PROGRAM_WORDS`:
    PLACES = 4  # the address of a table: what kind a location has, its size and address
    LOCATIONS = 5  # how many locations it has
    DATA = 6  # the address of the program's uniforms
    SIZE = 7  # their size
    STRIDE = 8  # the size of a record
    KNOWN_ARRAYS = 9  # the addresses of a byte for each name: is there such an object?
    KNOWN_TEXTURES = 10
    KNOWN_QUERIES = 11
    KNOWN_BUFFERS = 12  # of a word for each name: one more than the bytes that may be written
    COPY_NEXT = 13  # where the next bytes that are written to a buffer go
    COPY_END = 14
    QUERY = 15  # the name of the query of samples that is active; 0: none, -1: one not noted
    ARRAY_BUFFER = 16  # names of buffers that are bound; 0: none, or one not noted
    UNIFORM_BUFFER = 17
    # Of `FRAMEBUFFER_WORDS` for each name: the draw buffers, as `DRAW_BUFFERS` says them.
    KNOWN_FRAMEBUFFERS = 18
    READ_FRAMEBUFFER = 19  # the name of the one that is read
    NOT_CLEARED = 20  # the buffers of which glClear is not noted
    CLEAR_COLOR = 21  # four floats
    CLEAR_DEPTH = 23  # a double
    CLEAR_STENCIL = 24
    COLOR_MASKS = 25  # a byte for each draw buffer: a bit for each channel
    COLOR_MASK = 26  # that of all draw buffers; -1: they differ
    DEPTH_MASK = 27
    DRAW_BUFFERS = 28  # how many there are, to the last one that is used; 0: they are not noted
    DRAW_BUFFER_0 = 29  # their names, two in a word
    KNOWN_PROGRAMS = 33  # of `PROGRAM_WORDS` for each name: those from `PLACES` on
    PROGRAM = FIRST_STATE  # names
    ARRAY = FIRST_STATE + 1
    ACTIVE = FIRST_STATE + 2  # a texture unit
    FIRST_CAPABILITY = FIRST_STATE + 3
    SCISSOR = FIRST_STATE + 10  # x and y in one word, width and height in the next; -1: as it was
    VIEWPORT = FIRST_STATE + 12
    # Of each binding point of uniform blocks: the buffer's name, and the size in the upper half (0:
    # the whole buffer; -1 for both: as it was); the offset.
    POINT_0 = FIRST_STATE + 14
    FRAMEBUFFER = FIRST_STATE + 22  # the name of the one drawn to
    UNIT_0 = FIRST_STATE + COPIED - UNITS  # the names of textures; -1: as it was


CAPABILITIES: dict[int, tuple[int, bool]] = {
    int(cap): (Word.FIRST_CAPABILITY + number, cap != GL.RASTERIZER_DISCARD)
    for number, cap in enumerate(
        (
            GL.BLEND,
            GL.DEPTH_TEST,
            GL.CULL_FACE,
            GL.STENCIL_TEST,
            GL.SCISSOR_TEST,
            GL.PROGRAM_POINT_SIZE,
            GL.RASTERIZER_DISCARD,
        )
    )
}
"""The word of a capability, and whether changes are recorded: those with a bit in `switches`."""

BOUND = {
    int(GL.ARRAY_BUFFER): Word.ARRAY_BUFFER,
    int(GL.UNIFORM_BUFFER): Word.UNIFORM_BUFFER,
}
"""The word of a target of buffers."""

BOXES = {"Scissor": Word.SCISSOR, "Viewport": Word.VIEWPORT}
"""The word of a rectangle, by the function that sets it."""

DRAWS = ("DrawArrays", "DrawArraysInstanced", "DrawElements", "DrawElementsInstanced")
RECORDS = (*DRAWS, "BufferSubData", "BeginQuery", "EndQuery", "Clear")
"""The functions that leave a record, by the number it begins with."""


def uniform_kind(letter: str, rows: int, columns: int) -> int:
    """A number for the type of a uniform, other than 0."""
    return ord(letter) << 8 | columns << 4 | rows
