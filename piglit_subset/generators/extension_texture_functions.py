"""Texture functions that extensions named before GLSL did: GL_EXT_gpu_shader4's, rectangles', and
those with explicit derivatives.

A function's name says what it takes, so its call is made from the name. All texels are alike: what
is looked at is that the function is there, takes its arguments in this order, and looks at the
texture; the rules of filtering have tests of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gallette.piglit_subset.generators.common import Test, drawn, main

_SIZES = {"1D": 1, "2D": 2, "3D": 3, "Cube": 3, "1DArray": 2, "2DArray": 3, "2DRect": 2}
_TARGETS = {
    "1D": "TEXTURE_1D", "2D": "TEXTURE_2D", "3D": "TEXTURE_3D", "Cube": "TEXTURE_CUBE_MAP",
    "1DArray": "TEXTURE_1D_ARRAY", "2DArray": "TEXTURE_2D_ARRAY", "2DRect": "TEXTURE_RECTANGLE",
    "Buffer": "TEXTURE_BUFFER",
}  # fmt: skip
_NAME = re.compile(
    r"(texture|shadow)(1DArray|2DArray|1D|2DRect|2D|3D|Cube)(Proj)?(Lod|Grad)?(ARB)?(Offset)?(ARB)?"
)
_GPU_SHADER4, _LOD, _RECTANGLE = (
    "GL_EXT_gpu_shader4", "GL_ARB_shader_texture_lod", "GL_ARB_texture_rectangle",
)  # fmt: skip


_OFFSETS = ("Offset", "LodOffset", "Grad", "GradOffset")
# The functions of each extension (or of none), in their order.
_NAMES = (
    (_GPU_SHADER4, "texture1DArray texture2DArray shadow1DArray shadow2DArray shadowCube"),
    *(
        (_GPU_SHADER4, " ".join(f"texture{kind}{projected}{how}" for how in _OFFSETS))
        for kind in ("1D", "2D", "3D", "1DArray", "2DArray")
        for projected in ("", "Proj")[: 1 if "Array" in kind else 2]
    ),
    (_GPU_SHADER4, "texture1DArrayLod texture2DArrayLod textureCubeGrad "
     "shadow1DOffset shadow1DLodOffset shadow1DGrad shadow1DGradOffset shadow1DProjOffset "
     "shadow1DProjGrad shadow2DOffset shadow2DLodOffset shadow2DGrad shadow2DGradOffset "
     "shadow2DProjOffset shadow2DProjGrad "
     "shadow1DArrayGrad shadow2DArrayGrad shadow1DArrayLod"),
    (_LOD, "texture1DGradARB texture2DGradARB texture3DGradARB textureCubeGradARB "
     "texture1DProjGradARB texture2DProjGradARB texture3DProjGradARB "
     "shadow1DGradARB shadow2DGradARB shadow1DProjGradARB shadow2DProjGradARB "
     "texture2DRectGradARB texture2DRectProjGradARB shadow2DRectGradARB "
     "shadow2DRectProjGradARB"),
    (_RECTANGLE, "texture2DRect texture2DRectProj shadow2DRect shadow2DRectProj"),
    ("", "textureCube"),
    (_LOD, "textureCubeLod shadow1DProjLod"),
)  # fmt: skip


def tests() -> Iterator[Test]:
    for extension, names in _NAMES:
        for name in names.split():
            yield _lookup(name, extension)
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
        coordinate += ["0.0"] * (size == 1) + ["0.25"]  # of one dimension: one is not used
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


def _texture(kind: str, shadow: bool) -> list[str]:
    """A texture of that kind, 4 texels each way, all green, or all at depth 0.5."""
    target = f"GL_{_TARGETS[kind]}"
    lines = ["call glGenTextures 1 -> texture", f"call glBindTexture {target} $texture"]
    if kind == "Buffer":
        green = " ".join(["0 255 0 255"] * 4)
        return [
            "call glGenBuffers 1 -> buffer",
            "call glBindBuffer GL_TEXTURE_BUFFER $buffer",
            f"call glBufferData GL_TEXTURE_BUFFER 16 ubyte({green}) GL_STATIC_DRAW",
            *lines,
            "call glTexBuffer GL_TEXTURE_BUFFER GL_RGBA8 $buffer",
        ]
    size = _SIZES[kind]
    texels = 4 ** (2 if kind == "Cube" else size)
    form, data = "GL_RGBA GL_UNSIGNED_BYTE", f"ubyte({' '.join(['0 255 0 255'] * texels)})"
    internal = "GL_RGBA8"
    if shadow:
        internal, form = "GL_DEPTH_COMPONENT24", "GL_DEPTH_COMPONENT GL_FLOAT"
        data = f"float({' '.join(['0.5'] * texels)})"
    for what, value in (("MIN_FILTER", "NEAREST"), ("MAG_FILTER", "NEAREST")):
        lines.append(f"call glTexParameteri {target} GL_TEXTURE_{what} GL_{value}")
    if shadow:
        mode = "GL_TEXTURE_COMPARE_MODE GL_COMPARE_REF_TO_TEXTURE"
        lines.append(f"call glTexParameteri {target} {mode}")
    if kind == "Cube":
        for face in ("POSITIVE_X", "NEGATIVE_X", "POSITIVE_Y", "NEGATIVE_Y", "POSITIVE_Z",
                     "NEGATIVE_Z"):  # fmt: skip
            into = f"GL_TEXTURE_CUBE_MAP_{face}"
            lines.append(f"call glTexImage2D {into} 0 {internal} 4 4 0 {form} {data}")
    else:
        extent = " ".join(["4"] * size)
        lines.append(f"call glTexImage{size}D {target} 0 {internal} {extent} 0 {form} {data}")
    return lines


def _body(extension: str, sampler: str, expression: str, texture: list[str]) -> str:
    extensions = [extension] if extension else []
    if "Rect" in sampler and extension != _RECTANGLE:
        extensions.append(_RECTANGLE)
    fragment = [f"#extension {name}: require" for name in extensions]
    fragment += [f"uniform {sampler} image;", *main(f"gl_FragColor = {expression};")]
    commands = [*texture, "uniform int image 0", "draw rect -1 -1 2 2", "probe all rgba 0 1 0 1"]
    version = "3.1" if "Rect" in sampler or "Buffer" in sampler else "3.0"
    gl = f"GL COMPAT >= {version}"
    return drawn(120, fragment, commands, require=extensions, gl=gl, size="4 4")


def _place(extension: str, name: str) -> str:
    group = extension.removeprefix("GL_").lower() or "glsl-1.20"
    return f"{group}/texture-functions/{name.lower()}"


def _lookup(name: str, extension: str) -> Test:
    kind, sampler, arguments = _arguments(name)
    shadow = name.startswith("shadow")
    expression = f"{name}(image, {', '.join(arguments)})"
    if shadow:  # one where the reference is nearer
        expression = f"vec4(0.0, {expression}.r, 0.0, 1.0)"
    body = _body(extension, sampler, expression, _texture(kind, shadow))
    return _place(extension, name), f"{name} looks a texel up.", body


def _fetch(kind: str, offset: bool) -> Test:
    size = _SIZES.get(kind, 1)
    arguments = [_vector(["1"] * size, "ivec")]
    if kind not in ("2DRect", "Buffer"):
        arguments.append("0")
    if offset:
        arguments.append(_vector(["1"] * (size - kind.endswith("Array")), "ivec"))
    name = f"texelFetch{kind}{'Offset' if offset else ''}"
    expression = f"{name}(image, {', '.join(arguments)})"
    body = _body(_GPU_SHADER4, f"sampler{kind}", expression, _texture(kind, False))
    return _place(_GPU_SHADER4, name), f"{name} fetches a texel.", body


def _size(kind: str) -> Test:
    size = 2 if kind == "Cube" else _SIZES.get(kind, 1)
    name = f"textureSize{kind}"
    arguments = "image" if kind in ("2DRect", "Buffer") else "image, 0"
    wanted = _vector(["4"] * size, "ivec")
    expression = f"{name}({arguments}) == {wanted} ? vec4(0.0, 1.0, 0.0, 1.0) : vec4(1.0)"
    body = _body(_GPU_SHADER4, f"sampler{kind}", expression, _texture(kind, False))
    return _place(_GPU_SHADER4, name), f"{name} tells a texture's size.", body
