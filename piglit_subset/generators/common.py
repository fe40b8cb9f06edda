"""What the generators share: a test as data, and how values are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from textwrap import dedent

from gallette.piglit_subset.suite import GENERATED

__all__ = [
    "FAMILIES",
    "MARK",
    "SCALARS",
    "Generated",
    "all_tests",
    "evaluation",
    "number",
    "vector",
]

MARK = GENERATED
FAMILIES = (
    "advanced_blending",
    "atomics",
    "builtin_functions",
    "conversions",
    "current_values",
    "doubles",
    "errors",
    "extension_texture_functions",
    "interfaces",
    "interpolation",
    "layouts",
    "logic_operations",
    "operators",
    "output_state",
    "packing",
    "texture_formats",
    "texture_functions",
    "texture_uploads",
    "uniform_calls",
    "vertex_formats",
)
# Scalar type -> the prefix of its vectors.
SCALARS = {"float": "vec", "int": "ivec", "uint": "uvec", "bool": "bvec", "double": "dvec"}


@dataclass(frozen=True, slots=True)
class Generated:
    """One test: where it goes under `spec`, what it proves, and everything below its head."""

    place: str
    family: str
    purpose: str
    body: str

    @property
    def text(self) -> str:
        return f"# {self.purpose}\n{MARK}{self.family}.py.\n\n{dedent(self.body).strip()}\n"


def all_tests() -> Iterator[Generated]:
    """Every generated test, in the order of the families."""
    for family in FAMILIES:
        module = import_module(f"gallette.piglit_subset.generators.{family}")
        found: Iterable[tuple[str, str, str]] = module.tests()
        for place, purpose, body in found:
            yield Generated(f"{place}.shader_test", family, purpose, body)


def vector(scalar: str, size: int) -> str:
    """The GLSL type of `size` scalars."""
    return scalar if size == 1 else f"{SCALARS[scalar]}{size}"


def number(value: float | int | bool) -> str:
    """A number as the `uniform` command reads it, exactly."""
    if isinstance(value, bool | int):
        return str(int(value))
    if math.isnan(value) or math.isinf(value):
        return str(value)
    return repr(float(value))


def evaluation(
    version: int,
    uniforms: str,
    condition: str,
    cases: Iterable[list[str]],
    *,
    require: str = "",
    helpers: str = "",
    extension: str = "",
) -> str:
    """A test that draws green where `condition` holds, once per case of uniform commands."""
    lines = [
        "[require]",
        f"GLSL >= {version // 100}.{version % 100:02}",
        *filter(None, require.splitlines()),
        "SIZE 8 8",
        "",
        "[vertex shader passthrough]",
        "",
        "[fragment shader]",
        f"#version {version}",
        *filter(None, extension.splitlines()),
        *filter(None, uniforms.splitlines()),
        "out vec4 color;",
        "",
        *([*helpers.splitlines(), ""] if helpers else []),
        "void main()",
        "{",
        f"\tbool right = {condition};",
        "\tcolor = right ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0, 0.0, 0.0, 1.0);",
        "}",
        "",
        "[test]",
        "clear color 0.0 0.0 1.0 1.0",
    ]
    for case in cases:
        lines += ["", "clear", *case, "draw rect -1 -1 2 2", "probe all rgba 0.0 1.0 0.0 1.0"]
    return "\n".join(lines)
