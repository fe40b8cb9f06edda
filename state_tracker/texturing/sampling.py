"""Sampler parameters of textures and sampler objects, and the corresponding pipe state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Reduction, Wrap
from gallette.pipe.state import SamplerState
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.setters import Check, check_of

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

WRAPS: dict[int, Wrap] = {
    GL.REPEAT: Wrap.REPEAT,
    GL.CLAMP: Wrap.CLAMP,
    GL.CLAMP_TO_EDGE: Wrap.CLAMP_TO_EDGE,
    GL.CLAMP_TO_BORDER: Wrap.CLAMP_TO_BORDER,
    GL.MIRRORED_REPEAT: Wrap.MIRROR_REPEAT,
    GL.MIRROR_CLAMP_EXT: Wrap.MIRROR_CLAMP,
    GL.MIRROR_CLAMP_TO_EDGE: Wrap.MIRROR_CLAMP_TO_EDGE,
    GL.MIRROR_CLAMP_TO_BORDER_EXT: Wrap.MIRROR_CLAMP_TO_BORDER,
}
MIN_FILTERS: dict[int, tuple[Filter, MipFilter]] = {
    GL.NEAREST: (Filter.NEAREST, MipFilter.NONE),
    GL.LINEAR: (Filter.LINEAR, MipFilter.NONE),
    GL.NEAREST_MIPMAP_NEAREST: (Filter.NEAREST, MipFilter.NEAREST),
    GL.LINEAR_MIPMAP_NEAREST: (Filter.LINEAR, MipFilter.NEAREST),
    GL.NEAREST_MIPMAP_LINEAR: (Filter.NEAREST, MipFilter.LINEAR),
    GL.LINEAR_MIPMAP_LINEAR: (Filter.LINEAR, MipFilter.LINEAR),
}
MIPMAP_FILTERS = frozenset(f for f, (_, mip) in MIN_FILTERS.items() if mip is not MipFilter.NONE)
REDUCTIONS: dict[int, Reduction] = {
    GL.WEIGHTED_AVERAGE_ARB: Reduction.MEAN,
    GL.MIN: Reduction.MIN,
    GL.MAX: Reduction.MAX,
}
MAG_FILTERS: dict[int, Filter] = {GL.NEAREST: Filter.NEAREST, GL.LINEAR: Filter.LINEAR}
_RECT_WRAPS = frozenset((Wrap.CLAMP, Wrap.CLAMP_TO_EDGE, Wrap.CLAMP_TO_BORDER))


@lazy_dataclass()
class SamplerParams:
    """The state of a sampler. `state()` is the derived pipe state, cached until a parameter
    changes.
    """

    min_filter: int = GL.NEAREST_MIPMAP_LINEAR
    mag_filter: int = GL.LINEAR
    wrap_s: int = GL.REPEAT
    wrap_t: int = GL.REPEAT
    wrap_r: int = GL.REPEAT
    border_color: tuple[Any, ...] = (0.0, 0.0, 0.0, 0.0)
    min_lod: float = -1000.0
    max_lod: float = 1000.0
    lod_bias: float = 0.0
    compare_mode: int = GL.NONE
    compare_func: int = GL.LEQUAL
    max_anisotropy: float = 1.0
    srgb_decode: int = GL.DECODE_EXT
    seamless: bool = False
    reduction: int = GL.WEIGHTED_AVERAGE_ARB
    _states: dict[Any, SamplerState] | None = None

    def state(
        self,
        ctx: Context,
        unnormalized: bool,
        integer: bool,
        depth: bool,
        bias: float,
        by_handle: bool = False,
    ) -> SamplerState:
        """The pipe sampler for a texture of that kind, in a unit with a bias of its own.

        The global enable of seamless cube maps applies to units, not to textures used by a handle.
        """
        seamless = self.seamless or (ctx.textures.seamless and not by_handle)
        key = (unnormalized, integer, depth, seamless, bias)
        bias += self.lod_bias
        if self._states is None:
            self._states = {}
        found = self._states.get(key)
        if found is None:
            image, mip = MIN_FILTERS[self.min_filter]
            limit = ctx.caps.max_lod_bias
            found = self._states[key] = SamplerState(
                wrap_s=WRAPS[self.wrap_s],
                wrap_t=WRAPS[self.wrap_t],
                wrap_r=WRAPS[self.wrap_r],
                min_img_filter=image,
                mag_img_filter=MAG_FILTERS[self.mag_filter],
                min_mip_filter=MipFilter.NONE if unnormalized else mip,
                compare_enabled=depth and self.compare_mode == GL.COMPARE_REF_TO_TEXTURE,
                compare_func=CompareFunc(self.compare_func - GL.NEVER),
                unnormalized_coords=unnormalized,
                max_anisotropy=min(self.max_anisotropy, ctx.caps.max_anisotropy),
                seamless_cube_map=seamless,
                lod_bias=max(-limit, min(bias, limit)),
                min_lod=self.min_lod,
                max_lod=self.max_lod,
                border_color=self._border(integer),
                reduction=REDUCTIONS[self.reduction],
            )
        return found

    def _border(self, integer: bool) -> tuple[float, float, float, float]:
        r, g, b, a = self.border_color
        return (r, g, b, a) if integer else (float(r), float(g), float(b), float(a))

    def set(
        self,
        ctx: Context,
        pname: int,
        values: list[Any],
        rect: bool = False,
        external: bool = False,
    ) -> None:
        """Set a glTexParameter or glSamplerParameter; raises before anything changes."""
        check_es(ctx, pname, "sampler parameter")
        if pname == GL.TEXTURE_BORDER_COLOR:
            self.border_color = tuple(values[:4])
        elif pname in _ROWS and (pname != GL.TEXTURE_REDUCTION_MODE_ARB or ctx.caps.filter_minmax):
            name, check = _ROWS[pname]
            value = check(values[0])
            if name.startswith("wrap"):
                _check_wrap(ctx, value, rect, external)
            elif name == "min_filter" and rect and value in MIPMAP_FILTERS:
                raise invalid_enum(value, "minification filter of a rectangle")
            setattr(self, name, value)
        else:
            raise invalid_enum(pname, "sampler parameter")
        self._states = None

    def get(self, pname: int) -> list[Any] | None:
        """The value of a parameter, None if it is not a sampler parameter."""
        if pname == GL.TEXTURE_BORDER_COLOR:
            return list(self.border_color)
        row = _ROWS.get(pname)
        return None if row is None else [getattr(self, row[0])]


def _check_wrap(ctx: Context, code: int, rect: bool, external: bool) -> None:
    check_es(ctx, code, "wrap mode")
    wrap = WRAPS.get(code)
    if (
        wrap is None
        or (wrap is Wrap.CLAMP and not ctx.is_compat)
        or (rect and wrap not in _RECT_WRAPS)
        or (external and wrap is not Wrap.CLAMP_TO_EDGE)
    ):
        raise invalid_enum(code, "wrap mode")


def _row(name: str, field: str, values: str, wrong: str = "enum") -> tuple[str, Check]:
    return field, check_of(values, name, wrong)


# Parameters of one value: the field, and its values as in the column of parameters.txt.
_ROWS: dict[int, tuple[str, Check]] = {
    int(getattr(GL, row[0])): _row(*row)
    for row in (
        ("TEXTURE_WRAP_S", "wrap_s", "int"),
        ("TEXTURE_WRAP_T", "wrap_t", "int"),
        ("TEXTURE_WRAP_R", "wrap_r", "int"),
        ("TEXTURE_MIN_LOD", "min_lod", "float"),
        ("TEXTURE_MAX_LOD", "max_lod", "float"),
        ("TEXTURE_LOD_BIAS", "lod_bias", "float"),
        ("TEXTURE_MIN_FILTER", "min_filter", ",".join(map(str, map(int, MIN_FILTERS)))),
        ("TEXTURE_MAG_FILTER", "mag_filter", "NEAREST,LINEAR"),
        ("TEXTURE_COMPARE_MODE", "compare_mode", "NONE,COMPARE_REF_TO_TEXTURE"),
        ("TEXTURE_COMPARE_FUNC", "compare_func", "COMPARE"),
        ("TEXTURE_MAX_ANISOTROPY", "max_anisotropy", "within 1 inf"),
        ("TEXTURE_SRGB_DECODE_EXT", "srgb_decode", "DECODE_EXT,SKIP_DECODE_EXT"),
        ("TEXTURE_CUBE_MAP_SEAMLESS", "seamless", "0,1", "value"),
        ("TEXTURE_REDUCTION_MODE_ARB", "reduction", "WEIGHTED_AVERAGE_ARB,MIN,MAX"),
    )
}


def check_multisample(ctx: Context, multisample: bool, pname: int) -> None:
    """Raise an error for setting sampler state of a multisample texture."""
    if multisample and pname in (*_ROWS, GL.TEXTURE_BORDER_COLOR):
        raise invalid_enum(pname, "parameter of a multisample texture")
