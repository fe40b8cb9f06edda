"""Values of the `gl_*` uniforms of the compatibility profile: matrices, lights, materials, fog."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS, inverse
from gallette.state_tracker.shading.builtin_uniforms import PROVIDERS, Field, Getter

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_MATRICES: dict[str, Callable[[Context], npt.NDArray[np.float64]]] = {
    "ModelView": lambda ctx: ctx.matrices.modelview[-1],
    "Projection": lambda ctx: ctx.matrices.projection[-1],
    "ModelViewProjection": attrgetter("matrices.modelview_projection"),
}
_textures = attrgetter("matrices.textures")
_FIELDS: dict[str, Getter] = {
    "Point.size": attrgetter("raster.point_size"),
    "Point.sizeMin": attrgetter("raster.point_min"),
    "Point.sizeMax": attrgetter("raster.point_max"),
    "Point.fadeThresholdSize": attrgetter("raster.point_fade"),
    "Point.distanceConstantAttenuation": lambda ctx: _attenuation(ctx)[0],
    "Point.distanceLinearAttenuation": lambda ctx: _attenuation(ctx)[1],
    "Point.distanceQuadraticAttenuation": lambda ctx: _attenuation(ctx)[2],
    "Fog.color": attrgetter("lighting.fog_color"),
    "Fog.density": attrgetter("lighting.fog_density"),
    "Fog.start": attrgetter("lighting.fog_start"),
    "Fog.end": attrgetter("lighting.fog_end"),
    "Fog.scale": lambda ctx: _fog_scale(ctx.lighting.fog_end - ctx.lighting.fog_start),
    "LightModel.ambient": attrgetter("lighting.model_ambient"),
}


def _attenuation(ctx: Context) -> tuple[float, ...]:
    return ctx.raster.point_attenuation


def _fog_scale(span: float) -> float:
    return 1.0 / span if span else math.inf


def _matrix(name: str, index: int) -> Getter | None:
    """`gl_ModelViewMatrixInverseTranspose` and related matrices, row-major."""
    base, found, form = name.partition("Matrix")
    if base == "Normal":
        return attrgetter("matrices.normal")
    if not found or base not in (*_MATRICES, "Texture"):
        return None
    get: Any = _MATRICES.get(base) or Field(_textures, min(index, TEXTURE_UNITS - 1))
    if form == "":
        return get  # type: ignore[no-any-return]
    if form == "Transpose":
        return lambda ctx: get(ctx).swapaxes(-1, -2)
    if form == "Inverse":
        return lambda ctx: inverse(get(ctx))
    return lambda ctx: inverse(get(ctx)).swapaxes(-1, -2)


def _camel(field: str) -> str:
    """`spotCosCutoff` -> `spot_cos_cutoff`."""
    return re.sub(r"([A-Z])", r"_\1", field).lower()


def _product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x * y for x, y in zip(a, b, strict=True))


def _scene_color(ctx: Context, face: int) -> tuple[float, ...]:
    material = ctx.lighting.materials[face]
    ambient = _product(ctx.lighting.model_ambient, material.ambient)
    color = tuple(e + a for e, a in zip(material.emission, ambient, strict=True))
    return (*color[:3], material.diffuse[3])


def getter(name: str, index: int, field: str) -> Getter | None:
    """What gets the value of a uniform of fixed function."""
    matrix = _matrix(name, index)
    if matrix is not None:
        return matrix
    face, camel = int(name.startswith("Back")), _camel(field)
    if name == "NormalScale":
        return lambda ctx: ctx.matrices.normal_scale[..., None]
    if name == "ClipPlane":
        return lambda ctx: ctx.raster.clip_planes[index]
    if name in ("Point", "Fog", "LightModel"):
        return _FIELDS[f"{name}.{field}"]
    if name in ("FrontMaterial", "BackMaterial"):
        return Field(lambda ctx: ctx.lighting.materials[face], field)
    if name == "LightSource":
        return Field(lambda ctx: ctx.lighting.lights[index], camel)
    if name in ("FrontLightModelProduct", "BackLightModelProduct"):
        return lambda ctx: _scene_color(ctx, face)
    if name in ("FrontLightProduct", "BackLightProduct"):
        return lambda ctx: _product(
            getattr(ctx.lighting.lights[index], field),
            getattr(ctx.lighting.materials[face], field),
        )
    if name == "TextureEnvColor":
        return lambda ctx: ctx.lighting.env_colors[index]
    for kind, attribute in (("EyePlane", "eye_plane"), ("ObjectPlane", "object_plane")):
        if name.startswith(kind):
            coordinate, plane = "STRQ".index(name[-1]), attribute
            return lambda ctx: getattr(ctx.lighting.texgen[index][coordinate], plane)
    return None


PROVIDERS.append(getter)
