"""Slots: the names by which stages, fixed function and drivers match values.

A driver matches a vertex output with a fragment input by `VaryingSlot` (and component), a vertex
element with a shader input by `VertAttrib`, and a colour with a render target by `FragResult`.
"""

from __future__ import annotations

import enum

from gallette.compiler.nir.ir.intrinsics import SYSTEM_VALUES


class Slot(enum.IntEnum):
    """A named slot; `prefix` begins the slots of its kind in NIR text."""

    @property
    def prefix(self) -> str:
        return _PREFIX[type(self)]


class VertAttrib(Slot):
    """The slot of a vertex shader input: a compatibility attribute or a generic one."""

    POS = 0
    NORMAL = 1
    COLOR0 = 2
    COLOR1 = 3
    FOG = 4
    COLOR_INDEX = 5
    TEX0, TEX1, TEX2, TEX3, TEX4, TEX5, TEX6, TEX7 = range(6, 14)
    POINT_SIZE = 14
    GENERIC0, GENERIC1, GENERIC2, GENERIC3, GENERIC4, GENERIC5, GENERIC6, GENERIC7 = range(15, 23)
    GENERIC8, GENERIC9, GENERIC10, GENERIC11 = range(23, 27)
    GENERIC12, GENERIC13, GENERIC14, GENERIC15 = range(27, 31)
    GENERIC16, GENERIC17, GENERIC18, GENERIC19 = range(31, 35)
    GENERIC20, GENERIC21, GENERIC22, GENERIC23 = range(35, 39)
    GENERIC24, GENERIC25, GENERIC26, GENERIC27 = range(39, 43)
    GENERIC28, GENERIC29, GENERIC30, GENERIC31 = range(43, 47)
    EDGEFLAG = 47


class VaryingSlot(Slot):
    """The slot of a stage output or a later stage's input."""

    POS = 0
    COL0 = 1
    COL1 = 2
    FOGC = 3
    TEX0, TEX1, TEX2, TEX3, TEX4, TEX5, TEX6, TEX7 = range(4, 12)
    PSIZ = 12
    BFC0 = 13
    BFC1 = 14
    EDGE = 15
    CLIP_VERTEX = 16
    CLIP_DIST0 = 17
    CLIP_DIST1 = 18
    CULL_DIST0 = 19
    CULL_DIST1 = 20
    PRIMITIVE_ID = 21
    LAYER = 22
    VIEWPORT = 23
    FACE = 24
    PNTC = 25
    TESS_LEVEL_OUTER = 26
    TESS_LEVEL_INNER = 27
    BOUNDING_BOX0 = 28
    BOUNDING_BOX1 = 29
    VIEW_INDEX = 30
    VIEWPORT_MASK = 31
    VAR0, VAR1, VAR2, VAR3, VAR4, VAR5, VAR6, VAR7 = range(32, 40)
    VAR8, VAR9, VAR10, VAR11, VAR12, VAR13, VAR14, VAR15 = range(40, 48)
    VAR16, VAR17, VAR18, VAR19, VAR20, VAR21, VAR22, VAR23 = range(48, 56)
    VAR24, VAR25, VAR26, VAR27, VAR28, VAR29, VAR30, VAR31 = range(56, 64)
    PATCH0, PATCH1, PATCH2, PATCH3, PATCH4, PATCH5, PATCH6, PATCH7 = range(64, 72)
    PATCH8, PATCH9, PATCH10, PATCH11, PATCH12, PATCH13, PATCH14, PATCH15 = range(72, 80)
    PATCH16, PATCH17, PATCH18, PATCH19, PATCH20, PATCH21, PATCH22, PATCH23 = range(80, 88)
    PATCH24, PATCH25, PATCH26, PATCH27, PATCH28, PATCH29, PATCH30, PATCH31 = range(88, 96)

    @property
    def is_generic(self) -> bool:
        """Whether it is a user-declared varying (not a built-in, not per patch)."""
        return VaryingSlot.VAR0 <= self <= VaryingSlot.VAR31

    @property
    def is_color(self) -> bool:
        return self in COLOR_SLOTS


COLOR_SLOTS = frozenset({VaryingSlot.COL0, VaryingSlot.COL1, VaryingSlot.BFC0, VaryingSlot.BFC1})
"""Colours of the fixed-function pipeline, front and back, which flat shading applies to."""


class FragResult(Slot):
    """The destination of a fragment shader output; COLOR means every colour buffer."""

    DEPTH = 0
    STENCIL = 1
    COLOR = 2
    SAMPLE_MASK = 3
    DATA0, DATA1, DATA2, DATA3, DATA4, DATA5, DATA6, DATA7 = range(4, 12)


class SystemValue(Slot):
    """A value that hardware provides to a shader; each has a row in the table of intrinsics."""

    vars().update((name.upper(), n) for n, name in enumerate(SYSTEM_VALUES))

    @property
    def intrinsic(self) -> str:
        """The name of the intrinsic that loads it."""
        return "load_" + self.name.lower()


SLOT_ENUMS: dict[str, type[Slot]] = {
    "VERT": VertAttrib,
    "VARYING": VaryingSlot,
    "FRAG": FragResult,
    "SYS": SystemValue,
}
_PREFIX = {slots: prefix for prefix, slots in SLOT_ENUMS.items()}
