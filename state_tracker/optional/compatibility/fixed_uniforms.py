"""Values of the `gl_*` uniforms of the compatibility profile: matrices, lights, materials, fog."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.optional.compatibility.matrices import inverse
from gallette.state_tracker.shading.builtin_uniforms import PROVIDERS, Value

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__: list[str] = []

_MATRICES: dict[str, Callable[[Context, int], npt.NDArray[np.float64]]] = {
    "ModelView": lambda ctx, i: ctx.matrices.modelview[-1],
    "Projection": lambda ctx, i: ctx.matrices.projection[-1],
    "ModelViewProjection": lambda ctx, i: ctx.matrices.modelview_projection,
    "Texture": lambda ctx, i: ctx.matrices.texture[min(i, 7)][-1],
}


def _matrix(ctx: Context, name: str, index: int) -> npt.NDArray[np.float64] | None:
    """`gl_ModelViewMatrixInverseTranspose` and related matrices, row-major."""
    base, found, form = name.partition("Matrix")
    if base == "Normal":
        upper: npt.NDArray[np.float64] = inverse(ctx.matrices.modelview[-1])[..., :3, :3].swapaxes(
            -1, -2
        )
        return upper
    if not found or base not in _MATRICES:
        return None
    matrix = _MATRICES[base](ctx, index)
    if "Inverse" in form:
        matrix = inverse(matrix)
    return matrix.swapaxes(-1, -2) if "Transpose" in form else matrix


@functools.cache
def _camel(field: str) -> str:
    """`spotCosCutoff` -> `spot_cos_cutoff`."""
    return re.sub(r"([A-Z])", r"_\1", field).lower()


def _point(ctx: Context, field: str) -> float:
    s = ctx.raster
    values = {
        "size": s.point_size,
        "sizeMin": s.point_min,
        "sizeMax": s.point_max,
        "fadeThresholdSize": s.point_fade,
        "distanceConstantAttenuation": s.point_attenuation[0],
        "distanceLinearAttenuation": s.point_attenuation[1],
        "distanceQuadraticAttenuation": s.point_attenuation[2],
    }
    return values[field]


def _fog(ctx: Context, field: str) -> Value:
    s = ctx.lighting
    span = s.fog_end - s.fog_start
    values: dict[str, Value] = {
        "color": s.fog_color,
        "density": s.fog_density,
        "start": s.fog_start,
        "end": s.fog_end,
        "scale": 1.0 / span if span else math.inf,
    }
    return values[field]


def _product(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x * y for x, y in zip(a, b, strict=True))


def _scene_color(ctx: Context, face: int) -> tuple[float, ...]:
    material = ctx.lighting.materials[face]
    ambient = _product(ctx.lighting.model_ambient, material.ambient)
    color = tuple(e + a for e, a in zip(material.emission, ambient, strict=True))
    return (*color[:3], material.diffuse[3])


def value_of(ctx: Context, name: str, index: int, field: str) -> Value | None:
    """The value of a uniform of fixed function."""
    state = ctx.lighting
    matrix = _matrix(ctx, name, index)
    if matrix is not None:
        return matrix
    if name == "NormalScale":
        return ctx.matrices.normal_scale[..., None]
    if name == "ClipPlane":
        return ctx.raster.clip_planes[index]
    if name == "Point":
        return _point(ctx, field)
    if name == "Fog":
        return _fog(ctx, field)
    if name in ("FrontMaterial", "BackMaterial"):
        found: Value = getattr(state.materials[name == "BackMaterial"], field)
        return found
    if name == "LightSource":
        value: Value = getattr(state.lights[index], _camel(field))
        return value
    if name == "LightModel":
        return state.model_ambient
    if name in ("FrontLightModelProduct", "BackLightModelProduct"):
        return _scene_color(ctx, int(name[0] == "B"))
    if name in ("FrontLightProduct", "BackLightProduct"):
        light, material = state.lights[index], state.materials[int(name[0] == "B")]
        return _product(getattr(light, field), getattr(material, field))
    if name == "TextureEnvColor":
        return state.env_colors[index]
    for kind, attribute in (("EyePlane", "eye_plane"), ("ObjectPlane", "object_plane")):
        if name.startswith(kind):
            plane: Value = getattr(state.texgen[index]["STRQ".index(name[-1])], attribute)
            return plane
    return None


PROVIDERS.append(value_of)
