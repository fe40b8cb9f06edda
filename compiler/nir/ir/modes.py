"""Enumerations for shaders: stages, storage classes of variables, memory qualifiers."""

from __future__ import annotations

import enum


class Stage(enum.Enum):
    """A shader's stage in the pipeline."""

    VERTEX = "vertex"
    TESS_CTRL = "tess_ctrl"
    TESS_EVAL = "tess_eval"
    GEOMETRY = "geometry"
    FRAGMENT = "fragment"
    COMPUTE = "compute"
    KERNEL = "kernel"

    # Members are compared by identity; Enum's hash is a Python call per lookup.
    __hash__ = object.__hash__


DRAWING = (Stage.VERTEX, Stage.TESS_CTRL, Stage.TESS_EVAL, Stage.GEOMETRY, Stage.FRAGMENT)
"""the stages of a draw, in the order of data flow"""
BETWEEN = DRAWING[1:-1]
"""those that a draw may do without"""
_NAMES = (
    (Stage.VERTEX, "vertex", ".vert"),
    (Stage.TESS_CTRL, "tessellation control", ".tesc"),
    (Stage.TESS_EVAL, "tessellation evaluation", ".tese"),
    (Stage.GEOMETRY, "geometry", ".geom"),
    (Stage.FRAGMENT, "fragment", ".frag"),
    (Stage.COMPUTE, "compute", ".comp"),
)
IN_PROSE = {stage: prose for stage, prose, _ in _NAMES}
"""OpenGL's stages and their names; all other names of them follow from these"""
GL_NAMES = {
    stage: prose.replace("tessellation ", "tess_").upper() for stage, prose in IN_PROSE.items()
}
"""`TESS_CONTROL`: what stages are called in OpenGL's enumerators"""
SUFFIXES = {suffix: stage for stage, _, suffix in _NAMES}
"""stages by the ends of the names of files"""
MAKES_POSITIONS = frozenset((Stage.VERTEX, Stage.TESS_EVAL, Stage.GEOMETRY))
"""the stages with a position output"""


class Mode(enum.IntFlag):
    """Storage class of a variable; a deref has several if it may point into any of them."""

    SHADER_IN = 1
    SHADER_OUT = 2
    UNIFORM = 4
    UBO = 8
    SSBO = 16
    SHARED = 32
    GLOBAL = 64
    CONSTANT = 128
    FUNCTION_TEMP = 256
    SHADER_TEMP = 512
    SYSTEM_VALUE = 1024
    IMAGE = 2048
    PUSH_CONST = 4096
    ALL = 8191

    # Passes evaluate `deref.modes & wanted` often: a plain integer is faster than an enum member.
    __and__ = __rand__ = int.__and__  # type: ignore[assignment]

    @property
    def text(self) -> str:
        """Lower-case names joined with `|`, as the printer writes them."""
        return "|".join(m.name.lower() for m in _SINGLE_MODES if m.name and m & self)

    @staticmethod
    def parse(text: str) -> Mode:
        mode = Mode(0)
        for part in text.split("|"):
            mode |= Mode[part.upper()]
        return mode


_SINGLE_MODES = tuple(m for m in Mode if m is not Mode.ALL)
TEMPORARIES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP


class Access(enum.IntFlag):
    """Memory qualifiers of a buffer or image variable, or of one access."""

    NONE = 0
    COHERENT = 1
    VOLATILE = 2
    RESTRICT = 4
    NON_READABLE = 8
    NON_WRITEABLE = 16
