"""The table of texture operations: their sources and results.

All code that depends on the kind of a texture operation reads it here: whether it may be
speculated, whether its coordinates are a sampler's, which sources it has.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass

TEX_SRCS: dict[str, tuple[str, str]] = {
    "coord": ("", "texture coordinates, the array layer last"),
    "comparator": ("float", "reference value of a shadow lookup"),
    "offset": ("int", "constant or dynamic texel offset"),
    "bias": ("float", "added to the level of detail"),
    "lod": ("", "level of detail"),
    "min_lod": ("float", "lower clamp of the level of detail"),
    "ms_index": ("int", "sample index"),
    "ddx": ("float", "derivative of the coordinates along x"),
    "ddy": ("float", "derivative of the coordinates along y"),
    "texture_deref": ("deref", "deref of the texture variable"),
    "sampler_deref": ("deref", "deref of the sampler variable"),
    "texture_offset": ("int", "dynamic index added to texture_index"),
    "sampler_offset": ("int", "dynamic index added to sampler_index"),
}
"""The sources: type ("" for the type of the operation's coordinates), and a description."""

FIRST_HANDLE = 32
"""Textures and images from this number on are handles instead of units of a stage: the low word of
a handle is added to it. Below are the units, so that a unit can be passed as a handle, too.
"""

_HANDLES = frozenset({"texture_deref", "sampler_deref", "texture_offset", "sampler_offset"})


@lazy_dataclass(frozen=True)
class TexOp:
    """One operation.

    `coordinates` are "float" (a sampler's: normalised, filtered, wrapped), "int" (texels) or ""
    (none); `lod` is the type of its level. With `implicit_lod` the level comes from derivatives, so
    lanes must run it together. `needs` and `takes` are required and optional sources besides those
    that name the texture; `result` is its number of components (0: any).
    """

    name: str
    coordinates: str
    lod: str
    implicit_lod: bool
    needs: frozenset[str]
    takes: frozenset[str]
    result: int
    doc: str

    @property
    def is_sampled(self) -> bool:
        """Whether coordinates are interpreted by a sampler."""
        return self.coordinates == "float"

    def src_type(self, kind: str) -> str:
        """The type of the source: float, int or deref."""
        return TEX_SRCS[kind][0] or (self.lod if kind == "lod" else self.coordinates)


def _op(
    name: str, types: str, implicit: bool, needs: str, takes: str, result: int, doc: str
) -> TexOp:
    coordinates, _, lod = types.partition(" ")
    must = frozenset(needs.split())
    may = must | frozenset(takes.split()) | _HANDLES
    return TexOp(name, coordinates.strip("-"), lod, implicit, must, may, result, doc)


_FILTERED = "comparator offset min_lod"
TEX_OPS: dict[str, TexOp] = {
    op.name: op
    for op in (
        _op("tex", "float float", True, "coord", _FILTERED, 0, "sample with implicit level"),
        _op(
            "txb",
            "float float",
            True,
            "coord bias",
            _FILTERED,
            0,
            "sample with a bias added to the implicit level",
        ),
        _op(
            "txl",
            "float float",
            False,
            "coord lod",
            "comparator offset",
            0,
            "sample at an explicit level",
        ),
        _op(
            "txd",
            "float float",
            False,
            "coord ddx ddy",
            _FILTERED,
            0,
            "sample with explicit derivatives",
        ),
        _op(
            "txf",
            "int int",
            False,
            "coord",
            "lod offset",
            0,
            "fetch one texel by integer coordinate",
        ),
        _op(
            "txf_ms",
            "int int",
            False,
            "coord ms_index",
            "offset",
            0,
            "fetch one sample of a multisample texel",
        ),
        _op("txs", "- int", False, "", "lod", 0, "size of a level"),
        _op(
            "lod",
            "float float",
            True,
            "coord",
            "",
            2,
            "the level a sample would use: (clamped, unclamped)",
        ),
        _op(
            "tg4",
            "float float",
            False,
            "coord",
            "comparator offset",
            0,
            "gather one component of the four texels of the footprint",
        ),
        _op("query_levels", "- int", False, "", "", 1, "number of levels"),
        _op("texture_samples", "- int", False, "", "", 1, "number of samples"),
    )
}
