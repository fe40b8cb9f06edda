"""Interface queries: types, sizes and stages of uniforms, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import templates

_TYPES = {
    "float": "FLOAT", "vec2": "FLOAT_VEC2", "vec3": "FLOAT_VEC3", "vec4": "FLOAT_VEC4",
    "int": "INT", "ivec2": "INT_VEC2", "ivec3": "INT_VEC3", "ivec4": "INT_VEC4",
    "uint": "UNSIGNED_INT", "uvec2": "UNSIGNED_INT_VEC2", "uvec3": "UNSIGNED_INT_VEC3",
    "uvec4": "UNSIGNED_INT_VEC4", "bool": "BOOL", "bvec2": "BOOL_VEC2", "bvec3": "BOOL_VEC3",
    "bvec4": "BOOL_VEC4", "mat2": "FLOAT_MAT2", "mat3": "FLOAT_MAT3", "mat4": "FLOAT_MAT4",
    "mat2x3": "FLOAT_MAT2x3", "mat2x4": "FLOAT_MAT2x4", "mat3x2": "FLOAT_MAT3x2",
    "mat3x4": "FLOAT_MAT3x4", "mat4x2": "FLOAT_MAT4x2", "mat4x3": "FLOAT_MAT4x3",
}  # fmt: skip
_SAMPLERS = {
    "sampler1D": ("SAMPLER_1D", "0.5"),
    "sampler2D": ("SAMPLER_2D", "vec2(0.5)"),
    "sampler3D": ("SAMPLER_3D", "vec3(0.5)"),
    "samplerCube": ("SAMPLER_CUBE", "vec3(0.5)"),
    "sampler2DArray": ("SAMPLER_2D_ARRAY", "vec3(0.5)"),
    "isampler2D": ("INT_SAMPLER_2D", "vec2(0.5)"),
    "usampler2D": ("UNSIGNED_INT_SAMPLER_2D", "vec2(0.5)"),
    "sampler2DShadow": ("SAMPLER_2D_SHADOW", "vec3(0.5)"),
}


def tests() -> Iterator[str]:
    make = templates("interfaces")
    for kind, name in _TYPES.items():
        yield make.uniform(kind, name, _scalar(kind, "u"), _scalar(kind, "a[2]"))
    for kind, (name, coordinate) in _SAMPLERS.items():
        yield make.sampler(kind, name, coordinate)
    for kind in ("float", "vec2", "vec3", "vec4", "int", "ivec4", "uint", "uvec4", "mat3"):
        yield make.input(kind, _TYPES[kind], _scalar(kind, "a"))


def _scalar(kind: str, name: str) -> str:
    """One component of a variable as a float."""
    part = "" if kind in ("float", "int", "uint", "bool") else ".x"
    return f"float({name}{'[0].x' if kind.startswith('mat') else part})"
