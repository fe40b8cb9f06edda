"""Slots: the names by which stages, the fixed function and the driver find each other's values.

A driver links a vertex output to a fragment input by its `VaryingSlot` (and component), a vertex
element to a shader input by `VertAttrib`, and a colour to a render target by `FragResult`.
"""

from __future__ import annotations

import enum


class Slot(enum.IntEnum):
    """A named slot; `prefix` is how NIR text begins a slot of that kind."""

    @property
    def prefix(self) -> str:
        return _PREFIX[type(self)]


class VertAttrib(Slot):
    """What a vertex shader input is: a compatibility attribute or a generic one."""

    POS = 0
    NORMAL = 1
    COLOR0 = 2
    COLOR1 = 3
    FOG = 4
    COLOR_INDEX = 5
    TEX0 = 6
    TEX1 = 7
    TEX2 = 8
    TEX3 = 9
    TEX4 = 10
    TEX5 = 11
    TEX6 = 12
    TEX7 = 13
    POINT_SIZE = 14
    GENERIC0 = 15
    GENERIC1 = 16
    GENERIC2 = 17
    GENERIC3 = 18
    GENERIC4 = 19
    GENERIC5 = 20
    GENERIC6 = 21
    GENERIC7 = 22
    GENERIC8 = 23
    GENERIC9 = 24
    GENERIC10 = 25
    GENERIC11 = 26
    GENERIC12 = 27
    GENERIC13 = 28
    GENERIC14 = 29
    GENERIC15 = 30
    GENERIC16 = 31
    GENERIC17 = 32
    GENERIC18 = 33
    GENERIC19 = 34
    GENERIC20 = 35
    GENERIC21 = 36
    GENERIC22 = 37
    GENERIC23 = 38
    GENERIC24 = 39
    GENERIC25 = 40
    GENERIC26 = 41
    GENERIC27 = 42
    GENERIC28 = 43
    GENERIC29 = 44
    GENERIC30 = 45
    GENERIC31 = 46
    EDGEFLAG = 47


class VaryingSlot(Slot):
    """What a stage output or a later stage's input is."""

    POS = 0
    COL0 = 1
    COL1 = 2
    FOGC = 3
    TEX0 = 4
    TEX1 = 5
    TEX2 = 6
    TEX3 = 7
    TEX4 = 8
    TEX5 = 9
    TEX6 = 10
    TEX7 = 11
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
    VAR0 = 32
    VAR1 = 33
    VAR2 = 34
    VAR3 = 35
    VAR4 = 36
    VAR5 = 37
    VAR6 = 38
    VAR7 = 39
    VAR8 = 40
    VAR9 = 41
    VAR10 = 42
    VAR11 = 43
    VAR12 = 44
    VAR13 = 45
    VAR14 = 46
    VAR15 = 47
    VAR16 = 48
    VAR17 = 49
    VAR18 = 50
    VAR19 = 51
    VAR20 = 52
    VAR21 = 53
    VAR22 = 54
    VAR23 = 55
    VAR24 = 56
    VAR25 = 57
    VAR26 = 58
    VAR27 = 59
    VAR28 = 60
    VAR29 = 61
    VAR30 = 62
    VAR31 = 63
    PATCH0 = 64
    PATCH1 = 65
    PATCH2 = 66
    PATCH3 = 67
    PATCH4 = 68
    PATCH5 = 69
    PATCH6 = 70
    PATCH7 = 71
    PATCH8 = 72
    PATCH9 = 73
    PATCH10 = 74
    PATCH11 = 75
    PATCH12 = 76
    PATCH13 = 77
    PATCH14 = 78
    PATCH15 = 79
    PATCH16 = 80
    PATCH17 = 81
    PATCH18 = 82
    PATCH19 = 83
    PATCH20 = 84
    PATCH21 = 85
    PATCH22 = 86
    PATCH23 = 87
    PATCH24 = 88
    PATCH25 = 89
    PATCH26 = 90
    PATCH27 = 91
    PATCH28 = 92
    PATCH29 = 93
    PATCH30 = 94
    PATCH31 = 95

    @property
    def is_generic(self) -> bool:
        """A user-declared varying (not a built-in, not per patch)."""
        return VaryingSlot.VAR0 <= self <= VaryingSlot.VAR31

    @property
    def is_color(self) -> bool:
        return self in COLOR_SLOTS


COLOR_SLOTS = frozenset({VaryingSlot.COL0, VaryingSlot.COL1, VaryingSlot.BFC0, VaryingSlot.BFC1})
"""Colours of the fixed-function pipeline: flat where the state says so, whatever side is seen."""


class FragResult(Slot):
    """Where a fragment shader output goes; COLOR means every colour buffer."""

    DEPTH = 0
    STENCIL = 1
    COLOR = 2
    SAMPLE_MASK = 3
    DATA0 = 4
    DATA1 = 5
    DATA2 = 6
    DATA3 = 7
    DATA4 = 8
    DATA5 = 9
    DATA6 = 10
    DATA7 = 11


class SystemValue(Slot):
    """A value the hardware hands to a shader."""

    VERTEX_ID = 0
    VERTEX_ID_ZERO_BASE = 1
    INSTANCE_ID = 2
    BASE_VERTEX = 3
    FIRST_VERTEX = 4
    BASE_INSTANCE = 5
    DRAW_ID = 6
    INVOCATION_ID = 7
    PRIMITIVE_ID = 8
    PATCH_VERTICES_IN = 9
    TESS_COORD = 10
    TESS_LEVEL_OUTER = 11
    TESS_LEVEL_INNER = 12
    FRAG_COORD = 13
    POINT_COORD = 14
    FRONT_FACE = 15
    SAMPLE_ID = 16
    SAMPLE_POS = 17
    SAMPLE_MASK_IN = 18
    NUM_SAMPLES = 19
    HELPER_INVOCATION = 20
    LAYER_ID = 21
    VIEWPORT_INDEX = 22
    LOCAL_INVOCATION_ID = 23
    LOCAL_INVOCATION_INDEX = 24
    GLOBAL_INVOCATION_ID = 25
    WORKGROUP_ID = 26
    NUM_WORKGROUPS = 27
    WORKGROUP_SIZE = 28
    SUBGROUP_SIZE = 29
    SUBGROUP_INVOCATION = 30
    SUBGROUP_EQ_MASK = 31
    SUBGROUP_GE_MASK = 32
    SUBGROUP_GT_MASK = 33
    SUBGROUP_LE_MASK = 34
    SUBGROUP_LT_MASK = 35
    NUM_SUBGROUPS = 36
    SUBGROUP_ID = 37
    USER_CLIP_PLANE = 38
    LAST_DEPTH = 39
    LAST_STENCIL = 40
    ALPHA_REF = 41

    @property
    def intrinsic(self) -> str:
        """Name of the intrinsic that loads it."""
        return "load_" + self.name.lower()


SLOT_ENUMS: dict[str, type[Slot]] = {
    "VERT": VertAttrib,
    "VARYING": VaryingSlot,
    "FRAG": FragResult,
    "SYS": SystemValue,
}
_PREFIX = {slots: prefix for prefix, slots in SLOT_ENUMS.items()}
