"""Values of the `gl_*` uniforms: matrices, lights, materials, fog, by their names in shaders."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.compatibility.matrices import inverse
from gallette.state_tracker.shading.uniform_storage import element_count

if TYPE_CHECKING:
    from gallette.compiler.glsl import LinkedProgram, Uniform
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["fill", "places"]

Value = npt.NDArray[np.float64] | tuple[float, ...] | float
_NAME = re.compile(r"gl_(\w+?)(?:\[(\d+)\])?(?:\.(\w+))?(?:\[0\])?$")
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
        upper: npt.NDArray[np.float64] = inverse(ctx.matrices.modelview[-1])[:3, :3].T
        return upper
    if not found or base not in _MATRICES:
        return None
    matrix = _MATRICES[base](ctx, index)
    if "Inverse" in form:
        matrix = inverse(matrix)
    return matrix.T if "Transpose" in form else matrix


@functools.cache
def _camel(field: str) -> str:
    """`spotCosCutoff` -> `spot_cos_cutoff`."""
    return re.sub(r"([A-Z])", r"_\1", field).lower()


def _depth_range(ctx: Context, field: str) -> float:
    near, far = ctx.raster.depth_ranges[0]
    return {"near": near, "far": far, "diff": far - near}[field]


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
    """The value of one built-in uniform (or an element of it), None if it is unknown."""
    state = ctx.lighting
    matrix = _matrix(ctx, name, index)
    if matrix is not None:
        return matrix
    if name == "NormalScale":
        return ctx.matrices.normal_scale
    if name == "DepthRange":
        return _depth_range(ctx, field)
    if name == "FbWposYTransform":  # internal: gl_FragCoord with origin_upper_left
        return (-1.0, float(ctx.framebuffers.draw.size[1]), 0.0, 0.0)
    if name == "NumSamples":
        return float(max(1, ctx.framebuffers.draw.samples))
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
    for kind, planes in (("EyePlane", "eye_planes"), ("ObjectPlane", "object_planes")):
        if name.startswith(kind):
            plane: Value = getattr(state.texgen[index], planes)["STRQ".index(name[-1])]
            return plane
    return None


def _store(data: bytearray, uniform: Uniform, offset: int, value: Value) -> None:
    kind = uniform.type.without_array
    array = np.asarray(value, np.float64).astype("<i4" if kind.is_integer else "<f4")
    if kind.is_matrix:
        columns = array if uniform.row_major else array.T
        raw, size = columns.tobytes(), columns.shape[1] * 4
        if size == uniform.matrix_stride:
            data[offset : offset + len(raw)] = raw
            return
        for at in range(0, len(raw), size):
            data[offset : offset + size] = raw[at : at + size]
            offset += uniform.matrix_stride
        return
    raw = array.reshape(-1)[: kind.rows].tobytes()
    data[offset : offset + len(raw)] = raw


@functools.cache
def _parts(name: str) -> tuple[str, int, str] | None:
    """`gl_LightSource[1].ambient` -> `LightSource`, 1, `ambient`."""
    match = _NAME.match(name)
    return None if match is None else (match[1], int(match[2] or 0), match[3] or "")


def places(linked: LinkedProgram) -> list[tuple[Uniform, int, str, int, str, bool]]:
    """Each element of each built-in uniform: its offset, name, index and field, and whether it
    follows from the matrices.
    """
    found = []
    for uniform in linked.uniforms:
        if not uniform.builtin or uniform.block >= 0 or uniform.type.without_array.is_opaque:
            continue
        parts = _parts(uniform.name)
        if parts is None:
            continue
        name, index, field = parts
        moves = uniform.type.without_array.is_matrix or name == "NormalScale"
        for element in range(element_count(uniform)):
            offset = uniform.offset + element * uniform.array_stride
            found.append((uniform, offset, name, index + element, field, moves))
    return found


def fill(ctx: Context, executable: Executable, matrices: bool) -> None:
    """Write the built-in uniforms of a program into its default block, or only the `matrices`."""
    data = executable.uniforms.data
    with np.errstate(over="ignore", invalid="ignore"):
        for uniform, offset, name, index, field, moves in executable.builtin_places:
            if moves or not matrices:
                value = value_of(ctx, name, index, field)
                if value is not None:
                    _store(data, uniform, offset, value)
