"""The block of 64-bit words through which compiled code reaches everything it was bound to.

One block serves one call (a chunk of lanes, or the tiles of a draw). Addresses come with sizes, so
that compiled code can keep every access inside.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "LONGEST_RANGE",
    "ClipWords",
    "CommandWords",
    "DrawWords",
    "MoveWords",
    "PlaceWords",
    "Plane",
    "Record",
    "RunWords",
    "StreamWords",
    "TallyWords",
    "TileWords",
    "Words",
]

LONGEST_RANGE: Final = (1 << 31) - 1
"""Bytes of a buffer that compiled code can reach: it counts with 32 bits. OpenGL promises less."""


class Words:
    """Where in the block what is."""

    STATUS: Final = 0  # becomes non-zero when a callback tells the code to stop
    BUDGET: Final = 1  # units of work left before the code asks for more
    ZEROS: Final = 2  # 256 bytes of zeros: what lies outside
    COUNT: Final = 3  # lanes of the call
    CALLBACK: Final = 4  # the function for what is not compiled
    CALL_AREA: Final = 5  # where arguments and results of the callback lie
    SHARED: Final = 6  # workgroup memory
    SHARED_SIZE: Final = 7
    ALPHA_REF: Final = 8
    CLOCK: Final = 9  # the function that grants more work
    LOCALS: Final = 10  # memory of the call for what is too large for the stack, zeros at first
    CONSTANTS: Final = 16  # address and size of each constant block
    BUFFERS: Final = CONSTANTS + 2 * 16  # address and size of each storage buffer
    TEXTURES: Final = BUFFERS + 2 * 32  # address of each texture's description
    IMAGES: Final = TEXTURES + 32  # and of each image's
    OUTPUTS: Final = TEXTURES + 64  # an array of values by lane for each output of a chunk
    INPUTS: Final = OUTPUTS + 512  # an array of values for each input
    SIZE: Final = INPUTS + 256  # where there are no more inputs than that: `block_size`

    @staticmethod
    def block_size(inputs: int) -> int:
        """Words of a block for so many inputs: a patch's vertices have thousands."""
        return max(Words.SIZE, Words.INPUTS + inputs)


class TileWords:
    """In place of a chunk's outputs, what the tiles of a draw need."""

    WINDOW: Final = Words.OUTPUTS  # x, y, z, 1/w of the vertices, one array after the other
    VERTICES: Final = WINDOW + 1  # how many
    RECORDS: Final = WINDOW + 2  # a `Record` per triangle
    STARTS: Final = WINDOW + 3  # of each tile's list in ITEMS (32 bits)
    ITEMS: Final = WINDOW + 4  # numbers of triangles
    TILES: Final = WINDOW + 5  # how many
    ACROSS: Final = WINDOW + 6  # tiles in a row of tiles
    NEXT: Final = WINDOW + 7  # address of the number of the next tile to do
    RESULTS: Final = WINDOW + 8  # address of two counters: samples passed, fragments shaded
    REFERENCES: Final = WINDOW + 9  # stencil references: front, back << 32
    NEAR: Final = WINDOW + 10  # where depths are clamped, if they are: two floats
    CORNERS: Final = WINDOW + 11  # vertex numbers (64 bits), three per triangle
    PROVOKING: Final = WINDOW + 12
    IDENTITY: Final = WINDOW + 13
    TRIANGLES: Final = WINDOW + 14  # how many were given
    TARGET: Final = WINDOW + 15  # x0, y0, x1, y1 (four words)
    DEPTH: Final = WINDOW + 20  # address, and texels in a row
    COLORS: Final = WINDOW + 22  # the same for each colour buffer
    BLEND: Final = COLORS + 16  # constant colour of each colour buffer: four 32-bit values
    SAMPLES: Final = BLEND + 16  # the mask of samples that may be written
    DEPTH_PLANE: Final = SAMPLES + 1  # bytes from one sample's plane to the next's
    COLOR_PLANES: Final = SAMPLES + 2
    OFFSET: Final = SAMPLES + 10  # of depth: units (or what they are worth), scale, clamp: floats
    LAYERS: Final = SAMPLES + 12  # how many there are
    DEPTH_LAYER: Final = SAMPLES + 13  # bytes from one layer to the next
    COLOR_LAYERS: Final = SAMPLES + 14
    SRGB: Final = SAMPLES + 22  # the tables that encode: first guesses, thresholds


class Record:
    """What set-up leaves of a triangle: 32-bit words."""

    VERTEX: Final = 0  # three vertex numbers, clockwise
    PROVOKING: Final = 3
    FRONT: Final = 4
    IDENTITY: Final = 5
    BOUNDS: Final = 6  # x0, y0, x1, y1
    DX: Final = 10  # of four edges at most
    DY: Final = 14
    C: Final = 18  # 64-bit values, minus one; of pixels: divided by 256
    POINT_SIZE: Final = 26  # a float
    SIZE: Final = 28


class ClipWords:
    """The block of clipping."""

    FULL: Final = 0  # becomes non-zero when there was no room
    PLACES: Final = 1  # x, y, z, w and clip distances of the vertices, one array after the other
    ROOM: Final = 2  # elements of each of these arrays
    COUNT: Final = 3  # vertices given
    NEW_COUNT: Final = 4  # and with those made
    TRIANGLES: Final = 5  # to be cut
    CORNERS: Final = 6  # their vertices, three each (64 bits)
    CODES: Final = 7  # the planes each crosses (32 bits)
    PROVOKING: Final = 8
    PIECES: Final = 9  # corners of what is left
    ROWS: Final = 10  # and which triangle it was
    MADE: Final = 11  # how many
    CUTS: Final = 12  # of new vertices: t (float), outside, inside and provoking vertex
    SCREEN: Final = 16  # t on the screen
    WINDOW: Final = 17  # x, y, z, 1/w of all vertices, one array after the other
    SCALE: Final = 18  # the viewport: six floats
    ARRAYS: Final = 21  # addresses of arrays of values by vertex
    KINDS: Final = 22
    ARRAY_COUNT: Final = 23
    PLANES: Final = 24  # a `Plane` for each in force
    PLANE_COUNT: Final = 25
    PLACE_ROWS: Final = 26  # how many arrays PLACES has
    STRIDE: Final = 27  # elements of each of WINDOW's arrays
    SIZE: Final = 28


class PlaceWords:
    """The block of `place`."""

    COUNT: Final = 0  # vertices
    CLIP: Final = 1  # addresses of x, y, z and w
    WINDOW: Final = 5  # x, y, z, 1/w, one array after the other
    STRIDE: Final = 6  # elements of each of these arrays
    SCALE: Final = 7  # the viewport: six floats
    OUTSIDE: Final = 10  # becomes non-zero where something may have to be clipped
    SIZE: Final = 11


class StreamWords:
    """The triangles of a draw, and the vertices behind them."""

    LANES: Final = 0  # vertices to be shaded
    TRIANGLES: Final = 1
    CORNERS: Final = 2  # as in `TileWords`
    PROVOKING: Final = 3
    IDENTITY: Final = 4
    VERTICES: Final = 5  # that were named
    SIZE: Final = 6


class DrawWords:
    """The block of a small draw that is made by one call."""

    MOST_TRIANGLES: Final = 4096  # that are shaded
    MOST_PIECES: Final = 8192  # of triangles that are cut

    STATE: Final = 0  # how it ended
    STREAM: Final = 1  # its `StreamWords`
    LEFT: Final = 2  # triangles that clipping left, or pieces of them
    TOUCHED: Final = 3  # tiles, by all of them
    ITEMS: Final = 4  # so many there is room for in the lists of tiles
    COUNTERS: Final = 5  # address of what the tile function counts
    CHUNK: Final = 6  # the blocks: of the vertex shader,
    PLACE: Final = 7  # `PlaceWords`,
    CLIP: Final = 8  # `ClipWords`,
    TILE: Final = 9  # `TileWords`
    SHADE: Final = 10  # the functions
    PLACING: Final = 11
    CUT: Final = 12
    EXTEND: Final = 13
    SET_UP: Final = 14
    BIN: Final = 15
    FILL: Final = 16
    CODES: Final = 17  # the planes each vertex is outside of (32 bits)
    KINDS: Final = 18  # whether a triangle is whole, or gone, or to be cut (32 bits)
    MERGED: Final = 19  # corners, provoking vertices and identities of what is left
    SEEN: Final = 22  # of these: that could be seen
    TILES: Final = 23  # that there are: the tile function is told of the last one touched
    TALLY: Final = 24  # address of a `TallyWords`
    START: Final = 25  # the first vertex, if `runs_code` has moved there; -1: nobody knows
    MOVES: Final = 26  # address of the `MoveWords` of what moves with it,
    MOVE_COUNT: Final = 27  # and how many there are
    SIZE: Final = 28


class MoveWords:
    """A column of a vertex buffer that begins elsewhere with another first vertex."""

    FIRST: Final = 0  # address of the word that says where it begins,
    LIMIT: Final = 1  # and of that which says how long it is
    BASE: Final = 2  # where vertex 0 is
    STRIDE: Final = 3
    ROWS: Final = 4  # that there are from vertex 0 on
    SIZE: Final = 5


class RunWords:
    """The block of many small draws that are made by one call, and of writes between them."""

    COMMANDS: Final = 0  # address of their `CommandWords`
    COUNT: Final = 1  # of them
    CONSTANTS: Final = 2  # address that block 0 of a draw is copied to
    COUNTERS: Final = 3  # as in `DrawWords`
    MOST: Final = 4  # fragments of a draw that nobody has to look at
    DONE: Final = 5  # the number of the command it ended at
    STATE: Final = 6  # how that ended
    SIZE: Final = 7


class CommandWords:
    """One of them: a draw, or bytes that are written to a buffer."""

    CALL: Final = 0  # the function `draw`; 0: bytes are written
    BLOCK: Final = 1  # its `DrawWords`, or where to write
    SOURCE: Final = 2  # address of block 0, or of what is written
    BYTES: Final = 3
    START: Final = 4  # the first vertex
    STREAM: Final = 5  # its `StreamWords`
    SIZE: Final = 6


class TallyWords:
    """What all small draws of a context have counted."""

    VERTICES: Final = 0  # that were named
    LANES: Final = 1  # vertices that were shaded
    TRIANGLES: Final = 2
    LEFT: Final = 3  # triangles that clipping left
    PASSED: Final = 4  # samples
    SHADED: Final = 5  # fragments
    SIZE: Final = 6


class Plane:
    """A clip plane: an array of PLACES, its sign, and whether w is added. 32-bit words."""

    BIT: Final = 0  # that says a triangle crosses it
    ROW: Final = 1
    SIGN: Final = 2  # a float
    FROM_W: Final = 3
    SIZE: Final = 4
