"""Texture functions of extensions: GL_EXT_gpu_shader4, rectangles, explicit derivatives.

A function's name determines its arguments, so its call is constructed from the name. All texels are
equal: the test checks that the function exists, takes its arguments in this order, and reads the
texture; the rules of filtering have their own tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gallette.piglit_subset.generators.common import templates

_SIZES = {"1D": 1, "2D": 2, "3D": 3, "Cube": 3, "1DArray": 2, "2DArray": 3, "2DRect": 2}
_TARGETS = {
    "1D": "TEXTURE_1D", "2D": "TEXTURE_2D", "3D": "TEXTURE_3D", "Cube": "TEXTURE_CUBE_MAP",
    "1DArray": "TEXTURE_1D_ARRAY", "2DArray": "TEXTURE_2D_ARRAY", "2DRect": "TEXTURE_RECTANGLE",
    "Buffer": "TEXTURE_BUFFER",
}  # fmt: skip
_NAME = re.compile(
    r"(texture|shadow)(1DArray|2DArray|1D|2DRect|2D|3D|Cube)(Proj)?(Lod|Grad)?(ARB)?(Offset)?(ARB)?"
)
_GPU_SHADER4, _RECTANGLE = "GL_EXT_gpu_shader4", "GL_ARB_texture_rectangle"


def tests() -> Iterator[str]:
    table = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for extension, _, names in (line.partition(": ") for line in table.splitlines()[1:]):
        for name in names.split():
            yield _lookup(name, extension.strip("-"))
    for kind in (*_SIZES, "Buffer"):
        if kind != "Cube":
            yield _fetch(kind, False)
        yield _size(kind)
    for kind in ("1D", "2D", "3D", "1DArray", "2DArray"):
        yield _fetch(kind, True)


def _vector(values: list[str], kind: str = "vec") -> str:
    if len(values) == 1:
        return values[0]
    return f"{kind}{len(values)}({', '.join(values)})"


def _arguments(name: str) -> tuple[str, str, list[str]]:
    """The kind of texture, the sampler's type and the arguments of a call."""
    match = _NAME.fullmatch(name)
    assert match is not None, name
    family, kind, projected, how, _, offset, _ = match.groups()
    size = _SIZES[kind]
    coordinate = ["0.5"] * size
    if kind.endswith("Array"):
        coordinate[-1] = "0.0"
    shadow = family == "shadow"
    if shadow:
        coordinate += ["0.0"] * (size == 1) + ["0.25"]  # 1D: this component is not used
    if projected:
        coordinate += ["0.0"] * (3 - len(coordinate)) * shadow + ["1.0"]
    arguments = [_vector(coordinate)]
    free = size - kind.endswith("Array")
    if how == "Lod":
        arguments.append("0.0")
    elif how == "Grad":
        arguments += [_vector(["0.0"] * free)] * 2
    if offset:
        arguments.append(_vector(["1"] * free, "ivec"))
    sampler = f"sampler{kind}{'Shadow' if shadow else ''}"
    return kind, sampler, arguments


def _test(name: str, purpose: str, extension: str, kind: str, sampler: str, expression: str) -> str:
    """A test with a texture of that kind, 4 texels per axis, all green, or all at depth 0.5."""
    size = 1 if kind == "Buffer" else _SIZES[kind]
    texels = 4 ** (2 if kind == "Cube" else size)
    extensions = [extension] * bool(extension) + [_RECTANGLE] * ("Rect" in kind)
    group = extension.removeprefix("GL_").lower() or "glsl-1.20"
    target = f"GL_{_TARGETS[kind]}"
    make = templates("extension_texture_functions").lookup
    how = (list(dict.fromkeys(extensions)), kind, sampler, expression, target, size, texels)
    return str(make(group, name, purpose, *how))


def _lookup(name: str, extension: str) -> str:
    kind, sampler, arguments = _arguments(name)
    expression = f"{name}(image, {', '.join(arguments)})"
    if name.startswith("shadow"):  # 1 where the reference is nearer
        expression = f"vec4(0.0, {expression}.r, 0.0, 1.0)"
    return _test(name, "looks a texel up", extension, kind, sampler, expression)


def _fetch(kind: str, offset: bool) -> str:
    size = _SIZES.get(kind, 1)
    arguments = [_vector(["1"] * size, "ivec")]
    if kind not in ("2DRect", "Buffer"):
        arguments.append("0")
    if offset:
        arguments.append(_vector(["1"] * (size - kind.endswith("Array")), "ivec"))
    name = f"texelFetch{kind}{'Offset' if offset else ''}"
    expression = f"{name}(image, {', '.join(arguments)})"
    return _test(name, "fetches a texel", _GPU_SHADER4, kind, f"sampler{kind}", expression)


def _size(kind: str) -> str:
    size = 2 if kind == "Cube" else _SIZES.get(kind, 1)
    name = f"textureSize{kind}"
    arguments = "image" if kind in ("2DRect", "Buffer") else "image, 0"
    wanted = _vector(["4"] * size, "ivec")
    expression = f"{name}({arguments}) == {wanted} ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0)"
    return _test(name, "tells a texture's size", _GPU_SHADER4, kind, f"sampler{kind}", expression)
