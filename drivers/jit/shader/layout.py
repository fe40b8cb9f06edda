"""The block of 64-bit words by which compiled code reaches its bound resources.

One block serves one call (a chunk of lanes, or the tiles of a draw). Addresses are stored with
sizes, so that compiled code can check every access.
"""

from __future__ import annotations

from typing import Final

LONGEST_RANGE: Final = (1 << 31) - 1
"""The bytes of a buffer that compiled code can address with 32-bit offsets; OpenGL
requires less.
"""


class Words:
    """The places of words in the block."""

    STATUS: Final = 0  # non-zero after a callback tells the code to stop
    BUDGET: Final = 1  # units of work left before the code asks for more
    ZEROS: Final = 2  # 256 bytes of zeros, read in place of anything outside
    COUNT: Final = 3  # lanes of the call
    CALLBACK: Final = 4  # the callback for operations that are not compiled
    CALL_AREA: Final = 5  # where the callback's arguments and results are
    SHARED: Final = 6  # workgroup memory
    SHARED_SIZE: Final = 7
    ALPHA_REF: Final = 8
    CLOCK: Final = 9  # the function that grants more work
    LOCALS: Final = 10  # memory of the call for what exceeds the stack, initially zero
    CONSTANTS: Final = 16  # address and size of each constant block
    BUFFERS: Final = CONSTANTS + 2 * 16  # address and size of each storage buffer
    TEXTURES: Final = BUFFERS + 2 * 32  # address of each texture's description
    IMAGES: Final = TEXTURES + 32  # and of each image's
    OUTPUTS: Final = TEXTURES + 64  # an array of values by lane for each output of a chunk
    INPUTS: Final = OUTPUTS + 512  # an array of values for each input
    SIZE: Final = INPUTS + 256  # for up to 256 inputs; for more: `block_size`

    @staticmethod
    def block_size(inputs: int) -> int:
        """Words of a block with so many inputs; a patch's vertices have thousands."""
        return max(Words.SIZE, Words.INPUTS + inputs)


class TileWords:
    """The words for the tiles of a draw, which replace a chunk's outputs."""

    WINDOW: Final = Words.OUTPUTS  # x, y, z, 1/w of the vertices, one array after the other
    VERTICES: Final = WINDOW + 1  # how many
    RECORDS: Final = WINDOW + 2  # a `Record` per triangle
    STARTS: Final = WINDOW + 3  # of each tile's list in ITEMS (32 bits)
    ITEMS: Final = WINDOW + 4  # numbers of triangles
    TILES: Final = WINDOW + 5  # how many
    ACROSS: Final = WINDOW + 6  # tiles in a row of tiles
    NEXT: Final = WINDOW + 7  # address of the number of the next tile to shade
    RESULTS: Final = WINDOW + 8  # address of two counters: samples passed, fragments shaded
    FACES: Final = WINDOW + 9  # stencil references with masks: front, back << 32
    NEAR: Final = WINDOW + 10  # the range of depth clamping, if enabled: two floats
    CORNERS: Final = WINDOW + 11  # vertex numbers (64 bits), three per triangle
    PROVOKING: Final = WINDOW + 12
    IDENTITY: Final = WINDOW + 13
    TRIANGLES: Final = WINDOW + 14  # how many there are before culling
    TARGET: Final = WINDOW + 15  # x0, y0, x1, y1 (four words)
    DEPTH: Final = WINDOW + 20  # address, and texels in a row
    COLORS: Final = WINDOW + 22  # address and texels in a row, of each colour buffer
    BLEND: Final = COLORS + 16  # constant colour of each colour buffer: four 32-bit values
    SAMPLES: Final = BLEND + 16  # the mask of samples that may be written
    DEPTH_PLANE: Final = SAMPLES + 1  # bytes from one sample's plane to the next's
    COLOR_PLANES: Final = SAMPLES + 2
    OFFSET: Final = SAMPLES + 10  # depth offset: units (or their value), scale, clamp: floats
    LAYERS: Final = SAMPLES + 12  # how many there are
    DEPTH_LAYER: Final = SAMPLES + 13  # bytes from one layer to the next
    COLOR_LAYERS: Final = SAMPLES + 14
    FRONT: Final = SAMPLES + 22  # of lines and points: whether they are of front faces (8 bits)
    WIDTH: Final = SAMPLES + 23  # a float: half the width of lines that are rectangles, negative
    # for smooth ones whose rows are counted upwards; the size of points. An integer: half the width
    # of lines that are parallelograms, in 1/256 pixel
    SIZES: Final = SAMPLES + 24  # of points, by vertex


class Record:
    """The result of setting up a primitive, in 32-bit words: a triangle, or the polygon that a line
    or a point covers.
    """

    VERTEX: Final = 0  # a triangle's three vertex numbers, clockwise; a line's two, a point's one
    PROVOKING: Final = 3
    FRONT: Final = 4
    IDENTITY: Final = 5
    BOUNDS: Final = 6  # x0, y0, x1, y1
    DX: Final = 10  # of up to four edges
    DY: Final = 14
    C: Final = 18  # 64-bit values, minus one; of pixels: divided by 256
    WIDTH: Final = 26  # a float: of a point, half of a smooth line (see `fixed.lines`)
    SIZE: Final = 27


class ClipWords:
    """The block of words for clipping."""

    FULL: Final = 0  # becomes non-zero if there is no room
    PLACES: Final = 1  # x, y, z, w, clip distances of the vertices, one array after the other
    ROOM: Final = 2  # elements of each of these arrays
    COUNT: Final = 3  # vertices given
    NEW_COUNT: Final = 4  # number of vertices, including new ones
    TRIANGLES: Final = 5  # to be clipped
    CORNERS: Final = 6  # their vertices, three each (64 bits)
    CODES: Final = 7  # the planes each crosses (32 bits)
    PROVOKING: Final = 8
    PIECES: Final = 9  # corners of the resulting pieces
    ROWS: Final = 10  # and the triangle each came from
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
    STRIDE: Final = 26  # elements of each of WINDOW's arrays
    PLACE_COUNT: Final = 27  # arrays of PLACES: four, and one for each clip distance in force
    SIZE: Final = 28


class PlaceWords:
    """The block of words for `place`."""

    COUNT: Final = 0  # vertices
    CLIP: Final = 1  # addresses of x, y, z and w
    WINDOW: Final = 5  # x, y, z, 1/w, one array after the other
    STRIDE: Final = 6  # elements of each of these arrays
    SCALE: Final = 7  # the viewport: six floats
    OUTSIDE: Final = 10  # becomes non-zero if some vertex is outside of a plane
    SIZE: Final = 11


class StreamWords:
    """The triangles of a draw, and their vertices."""

    LANES: Final = 0  # vertices to be shaded
    TRIANGLES: Final = 1
    CORNERS: Final = 2  # as in `TileWords`
    PROVOKING: Final = 3
    IDENTITY: Final = 4
    VERTICES: Final = 5  # as the draw names them
    UNCLIPPED: Final = 6  # whether its triangles are other ones if any is clipped
    SIZE: Final = 7


class DrawWords:
    """The block of a part of a draw that is executed by one call."""

    MOST_TRIANGLES: Final = 3 << 15  # that are shaded
    MOST_PIECES: Final = 1 << 14  # of triangles that are cut

    STATE: Final = 0  # how it ended
    STREAM: Final = 1  # its `StreamWords`
    LEFT: Final = 2  # triangles left by clipping, or pieces of them
    TOUCHED: Final = 3  # tiles touched by all of them
    ITEMS: Final = 4  # room in the lists of tiles
    COUNTERS: Final = 5  # address of the tile function's counters
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
    KINDS: Final = 18  # whether a triangle is inside, outside, or to be clipped (32 bits)
    MERGED: Final = 19  # corners, provoking vertices and identities of the resulting triangles
    SEEN: Final = 22  # how many of them may be visible
    TILES: Final = 23  # number of tiles; the tile function gets the last one touched
    TALLY: Final = 24  # address of a `TallyWords`
    START: Final = 25  # the first vertex, if `runs_code` has moved there; -1: unknown
    MOVES: Final = 26  # address of the `MoveWords` of columns that move with it,
    MOVE_COUNT: Final = 27  # and how many there are
    INSTANCE: Final = 28  # the first instance, as long as START is known
    SIZE: Final = 29


class MoveWords:
    """A column of a vertex buffer whose address depends on the first vertex or instance."""

    FIRST: Final = 0  # address of the word with its address,
    LIMIT: Final = 1  # and of the word with its length
    BASE: Final = 2  # the address of row 0
    STRIDE: Final = 3
    ROWS: Final = 4  # number of rows from row 0 on
    BY_INSTANCE: Final = 5  # whether its rows are those of instances
    SIZE: Final = 6


class ListWords:
    """The block of many small draws executed by one call, with writes between them."""

    COMMANDS: Final = 0  # address of their `CommandWords`
    COUNT: Final = 1  # of them
    CONSTANTS: Final = 2  # address that block 0 of a draw is copied to
    COUNTERS: Final = 3  # as in `DrawWords`
    MOST: Final = 4  # most fragments of a draw that need no further accounting
    DONE: Final = 5  # the number of the command at which it ended
    STATE: Final = 6  # how that command ended
    SIZE: Final = 7


class CommandWords:
    """One command: a draw, or bytes to write to a buffer."""

    CALL: Final = 0  # the function `draw`; 0 for a write
    BLOCK: Final = 1  # its `DrawWords`, or the address to write to
    SOURCE: Final = 2  # address of block 0, or of the bytes to write
    BYTES: Final = 3
    START: Final = 4  # the first vertex
    STREAM: Final = 5  # its `StreamWords`
    INSTANCE: Final = 6  # the first instance
    SIZE: Final = 7


class TallyWords:
    """The counters of all small draws of a context."""

    VERTICES: Final = 0  # as named by draws
    LANES: Final = 1  # vertices that were shaded
    TRIANGLES: Final = 2
    LEFT: Final = 3  # triangles left by clipping
    PASSED: Final = 4  # samples
    SHADED: Final = 5  # fragments
    SIZE: Final = 6


class Plane:
    """A clip plane: an array of PLACES, its sign, and whether w is added. 32-bit words."""

    BIT: Final = 0  # set for triangles that cross the plane
    ROW: Final = 1
    SIGN: Final = 2  # a float
    FROM_W: Final = 3
    SIZE: Final = 4
