"""Sampler parameters of textures and sampler objects, and the corresponding pipe state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import CompareFunc, Filter, MipFilter, Reduction, Wrap
from gallette.pipe.state import SamplerState
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["MIPMAP_FILTERS", "SamplerParams", "enumerator"]

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


def enumerator(value: float) -> int:
    """The enum of a setting, which may be passed as any number; -1 for none."""
    return int(value) if math.isfinite(value) else -1


@dataclass(slots=True)
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
        value = values[0]
        code = enumerator(value)
        check_es(ctx, pname, "sampler parameter")
        if pname == GL.TEXTURE_BORDER_COLOR:
            self.border_color = tuple(values[:4])
        elif pname in _WRAP_NAMES:
            wrap = WRAPS.get(code)
            check_es(ctx, code, "wrap mode")
            if (
                wrap is None
                or (wrap is Wrap.CLAMP and not ctx.is_compat)
                or (rect and wrap not in _RECT_WRAPS)
                or (external and wrap is not Wrap.CLAMP_TO_EDGE)
            ):
                raise invalid_enum(code, "wrap mode")
            setattr(self, _WRAP_NAMES[pname], code)
        elif pname == GL.TEXTURE_MIN_FILTER:
            if code not in MIN_FILTERS or (rect and code in MIPMAP_FILTERS):
                raise invalid_enum(code, "minification filter")
            self.min_filter = code
        elif pname == GL.TEXTURE_MAG_FILTER:
            if code not in MAG_FILTERS:
                raise invalid_enum(code, "magnification filter")
            self.mag_filter = code
        elif pname == GL.TEXTURE_COMPARE_MODE:
            if code not in (GL.NONE, GL.COMPARE_REF_TO_TEXTURE):
                raise invalid_enum(code, "compare mode")
            self.compare_mode = code
        elif pname == GL.TEXTURE_COMPARE_FUNC:
            if not GL.NEVER <= code <= GL.ALWAYS:
                raise invalid_enum(code, "compare function")
            self.compare_func = code
        elif pname == GL.TEXTURE_MAX_ANISOTROPY:
            if value < 1.0:
                raise invalid_value("anisotropy below 1")
            self.max_anisotropy = float(value)
        elif pname == GL.TEXTURE_SRGB_DECODE_EXT:
            if code not in (GL.DECODE_EXT, GL.SKIP_DECODE_EXT):
                raise invalid_enum(code, "sRGB decode mode")
            self.srgb_decode = code
        elif pname == GL.TEXTURE_REDUCTION_MODE_ARB and ctx.caps.filter_minmax:
            if code not in REDUCTIONS:
                raise invalid_enum(code, "reduction mode")
            self.reduction = code
        elif pname == GL.TEXTURE_CUBE_MAP_SEAMLESS:
            if code not in (0, 1):
                raise invalid_value("seamless is a boolean")
            self.seamless = bool(value)
        elif pname in _FLOAT_NAMES:
            setattr(self, _FLOAT_NAMES[pname], float(value))
        else:
            raise invalid_enum(pname, "sampler parameter")
        self._states = None

    def get(self, pname: int) -> list[Any] | None:
        """The value of a parameter, None if it is not a sampler parameter."""
        if pname == GL.TEXTURE_BORDER_COLOR:
            return list(self.border_color)
        name = _ALL_NAMES.get(pname)
        return None if name is None else [getattr(self, name)]


_WRAP_NAMES: dict[int, str] = {
    GL.TEXTURE_WRAP_S: "wrap_s",
    GL.TEXTURE_WRAP_T: "wrap_t",
    GL.TEXTURE_WRAP_R: "wrap_r",
}
_FLOAT_NAMES: dict[int, str] = {
    GL.TEXTURE_MIN_LOD: "min_lod",
    GL.TEXTURE_MAX_LOD: "max_lod",
    GL.TEXTURE_LOD_BIAS: "lod_bias",
}
_ALL_NAMES: dict[int, str] = {
    **_WRAP_NAMES,
    **_FLOAT_NAMES,
    GL.TEXTURE_MIN_FILTER: "min_filter",
    GL.TEXTURE_MAG_FILTER: "mag_filter",
    GL.TEXTURE_COMPARE_MODE: "compare_mode",
    GL.TEXTURE_COMPARE_FUNC: "compare_func",
    GL.TEXTURE_MAX_ANISOTROPY: "max_anisotropy",
    GL.TEXTURE_SRGB_DECODE_EXT: "srgb_decode",
    GL.TEXTURE_CUBE_MAP_SEAMLESS: "seamless",
    GL.TEXTURE_REDUCTION_MODE_ARB: "reduction",
}


def check_multisample(ctx: Context, multisample: bool, pname: int) -> None:
    """Raise an error for setting sampler state of a multisample texture."""
    if multisample and pname in (*_ALL_NAMES, GL.TEXTURE_BORDER_COLOR):
        raise invalid_enum(pname, "parameter of a multisample texture")
