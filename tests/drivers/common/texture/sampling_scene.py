"""Sampling the same texture with the same coordinates on the native GL and in numpipe.

The native side draws a full-screen triangle into a float framebuffer and hands back both what it
sampled and the coordinates it sampled at, so the comparison tests sampling alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.texture import texture_unit
from gallette.pipe.enums import Filter, MipFilter, Target, Wrap
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import SamplerState, SamplerView
from gallette.state_tracker import GLInterface
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.native.context import NativeContext
from tests.state_tracker.helpers import linked

Array = npt.NDArray[Any]

SIZE = 64  # of the framebuffer

GL_TARGET = {
    Target.TEXTURE_1D: GL.TEXTURE_1D,
    Target.TEXTURE_2D: GL.TEXTURE_2D,
    Target.TEXTURE_3D: GL.TEXTURE_3D,
    Target.TEXTURE_CUBE: GL.TEXTURE_CUBE_MAP,
    Target.TEXTURE_RECT: GL.TEXTURE_RECTANGLE,
    Target.TEXTURE_1D_ARRAY: GL.TEXTURE_1D_ARRAY,
    Target.TEXTURE_2D_ARRAY: GL.TEXTURE_2D_ARRAY,
    Target.TEXTURE_CUBE_ARRAY: GL.TEXTURE_CUBE_MAP_ARRAY,
}
SAMPLER = {
    Target.TEXTURE_1D: ("sampler1D", "x"),
    Target.TEXTURE_2D: ("sampler2D", "xy"),
    Target.TEXTURE_3D: ("sampler3D", "xyz"),
    Target.TEXTURE_CUBE: ("samplerCube", "xyz"),
    Target.TEXTURE_RECT: ("sampler2DRect", "xy"),
    Target.TEXTURE_1D_ARRAY: ("sampler1DArray", "xy"),
    Target.TEXTURE_2D_ARRAY: ("sampler2DArray", "xyz"),
    Target.TEXTURE_CUBE_ARRAY: ("samplerCubeArray", "xyzw"),
}
# format: (internal format, transfer format, transfer type, NumPy type, components)
GL_FORMAT = {
    "R8G8B8A8_UNORM": (GL.RGBA8, GL.RGBA, GL.UNSIGNED_BYTE, np.uint8, 4),
    "R8_UNORM": (GL.R8, GL.RED, GL.UNSIGNED_BYTE, np.uint8, 1),
    "R8G8_UNORM": (GL.RG8, GL.RG, GL.UNSIGNED_BYTE, np.uint8, 2),
    "R8G8B8A8_SNORM": (GL.RGBA8_SNORM, GL.RGBA, GL.BYTE, np.int8, 4),
    "R8G8B8A8_SRGB": (GL.SRGB8_ALPHA8, GL.RGBA, GL.UNSIGNED_BYTE, np.uint8, 4),
    "R32G32B32A32_FLOAT": (GL.RGBA32F, GL.RGBA, GL.FLOAT, np.float32, 4),
    "R16G16B16A16_FLOAT": (GL.RGBA16F, GL.RGBA, GL.HALF_FLOAT, np.float16, 4),
    "R32_FLOAT": (GL.R32F, GL.RED, GL.FLOAT, np.float32, 1),
    "R16G16B16A16_UNORM": (GL.RGBA16, GL.RGBA, GL.UNSIGNED_SHORT, np.uint16, 4),
    "B5G6R5_UNORM": (GL.RGB565, GL.RGB, GL.UNSIGNED_SHORT_5_6_5, np.uint16, 1),
    "R10G10B10A2_UNORM": (GL.RGB10_A2, GL.RGBA, GL.UNSIGNED_INT_2_10_10_10_REV, np.uint32, 1),
    "R11G11B10_FLOAT": (
        GL.R11F_G11F_B10F,
        GL.RGB,
        GL.UNSIGNED_INT_10F_11F_11F_REV,
        np.uint32,
        1,
    ),
    "Z32_FLOAT": (GL.DEPTH_COMPONENT32F, GL.DEPTH_COMPONENT, GL.FLOAT, np.float32, 1),
    "Z16_UNORM": (GL.DEPTH_COMPONENT16, GL.DEPTH_COMPONENT, GL.UNSIGNED_SHORT, np.uint16, 1),
    "R8G8B8A8_UINT": (GL.RGBA8UI, GL.RGBA_INTEGER, GL.UNSIGNED_BYTE, np.uint8, 4),
    "R32G32B32A32_SINT": (GL.RGBA32I, GL.RGBA_INTEGER, GL.INT, np.int32, 4),
}
GL_WRAP = {
    Wrap.REPEAT: GL.REPEAT,
    Wrap.CLAMP: GL.CLAMP,
    Wrap.CLAMP_TO_EDGE: GL.CLAMP_TO_EDGE,
    Wrap.CLAMP_TO_BORDER: GL.CLAMP_TO_BORDER,
    Wrap.MIRROR_REPEAT: GL.MIRRORED_REPEAT,
    Wrap.MIRROR_CLAMP: GL.MIRROR_CLAMP_EXT,
    Wrap.MIRROR_CLAMP_TO_EDGE: GL.MIRROR_CLAMP_TO_EDGE,
    Wrap.MIRROR_CLAMP_TO_BORDER: GL.MIRROR_CLAMP_TO_BORDER_EXT,
}


def gl_min_filter(sampler: SamplerState) -> int:
    """The GL name of a minification filter."""
    inner = "NEAREST" if sampler.min_img_filter is Filter.NEAREST else "LINEAR"
    if sampler.min_mip_filter is MipFilter.NONE:
        return int(getattr(GL, inner))
    return int(getattr(GL, f"{inner}_MIPMAP_{sampler.min_mip_filter.name}"))


@dataclass
class Scene:
    """One texture with random contents, sampled over a rotated, scaled square."""

    target: Target = Target.TEXTURE_2D
    format: str = "R8G8B8A8_UNORM"
    width: int = 16
    height: int = 16
    depth: int = 1  # or layers
    levels: int = 1
    sampler: SamplerState = field(default_factory=SamplerState)
    matrix: tuple[float, ...] = (1.3, 0.2, -0.2, -0.1, 0.9, 0.1)  # of homogeneous pixel position
    seed: int = 1
    smooth: bool = False

    def level_size(self, level: int) -> tuple[int, int, int]:
        width = max(1, self.width >> level)
        flat = self.target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)
        height = 1 if flat else max(1, self.height >> level)
        depth = self.depth
        if self.target is Target.TEXTURE_3D:
            depth = max(1, self.depth >> level)
        return width, height, depth

    def contents(self) -> list[Array]:
        """Random texels by level, in the transfer type, `[depth, height, width, components]`."""
        _, _, _, dtype, components = GL_FORMAT[self.format]
        rng = np.random.default_rng(self.seed)
        found = []
        for level in range(self.levels):
            width, height, depth = self.level_size(level)
            shape = (depth, height, width, components)
            kind = np.dtype(dtype)
            if kind.kind == "f":
                found.append(rng.random(shape).astype(dtype))
            else:
                info = np.iinfo(kind)
                found.append(rng.integers(info.min, info.max, shape, dtype, endpoint=True))
            if self.format == "R11G11B10_FLOAT":
                found[-1] &= np.uint32(0xF7EFBF5F)  # keep exponents small: no infinities
                found[-1] &= ~np.uint32((16 << 6) | (16 << 17) | (16 << 27))
        return found


def coordinates_source(scene: Scene) -> str:
    m = scene.matrix
    if scene.target.is_cube:
        return (
            f"vec3 d = normalize(vec3(p.x * {m[0]}, p.y * {m[4]}, 1.0));"
            f"float a = {m[2]} * 7.0, b = {m[5]} * 5.0;"
            "d.xz = mat2(cos(a), -sin(a), sin(a), cos(a)) * d.xz;"
            "d.yz = mat2(cos(b), -sin(b), sin(b), cos(b)) * d.yz;"
            f"uv = vec4(d, (p.y * 0.5 + 0.5) * {scene.depth / 6.0 + 1.0} - 0.7);"
        )
    scale = ", ".join(["1.0"] * 4)
    if scene.target is Target.TEXTURE_RECT:
        scale = f"{float(scene.width)}, {float(scene.height)}, 1.0, 1.0"
    third = "p.x * 0.7 + 0.4"
    second = f"p.x * {m[3]} + p.y * {m[4]} + {m[5]}"
    if scene.target is Target.TEXTURE_2D_ARRAY:
        third = f"(p.x * 0.5 + 0.5) * {scene.depth + 1.0} - 0.7"
    if scene.target is Target.TEXTURE_1D_ARRAY:
        second = f"(p.y * 0.5 + 0.5) * {scene.depth + 1.0} - 0.7"
    return (
        f"uv = vec4(p.x * {m[0]} + p.y * {m[1]} + {m[2]}, {second}, {third}, 0.5) * vec4({scale});"
    )


_VOLUMES = (Target.TEXTURE_3D, Target.TEXTURE_2D_ARRAY, Target.TEXTURE_CUBE_ARRAY)

VERTEX = """#version 330
out vec2 p;
void main() {
    p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(p, 0.0, 1.0);
}
"""


def fragment_source(scene: Scene, expression: str) -> str:
    sampler, swizzle = SAMPLER[scene.target]
    if scene.sampler.compare_enabled:
        sampler += "Shadow"
    integer = "UINT" in scene.format or "SINT" in scene.format
    prefix = {"UINT": "u", "SINT": "i"}.get(scene.format[-4:], "") if integer else ""
    return f"""{Native.version}
in vec2 p;
uniform {prefix}{sampler} tex;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 where;
void main() {{
    vec4 uv; {coordinates_source(scene)}
    where = uv;
    {expression.replace("COORD", "uv." + swizzle)}
}}
"""


class Native:
    """The native side (or any other context of GL, given as `gl`)."""

    version = "#version 400"

    def __init__(self, gl: GLInterface | None = None) -> None:
        self.gl = gl or NativeContext("llvmpipe", profile="compat", version=(4, 0))
        gl = self.gl
        self.programs: dict[str, int] = {}
        self.fbo = gl.gen_framebuffers(1)[0]
        self.targets = gl.gen_textures(2)
        gl.bind_framebuffer(GL.FRAMEBUFFER, self.fbo)
        for i, texture in enumerate(self.targets):
            gl.bind_texture(GL.TEXTURE_2D, texture)
            gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA32F, SIZE, SIZE, 0, GL.RGBA, GL.FLOAT, None)
            gl.framebuffer_texture2d(
                GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0 + i, GL.TEXTURE_2D, texture, 0
            )
        gl.draw_buffers(2, np.array([GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT0 + 1], np.uint32))
        gl.viewport(0, 0, SIZE, SIZE)
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)

    def program(self, fragment: str) -> int:
        if fragment in self.programs:
            return self.programs[fragment]
        program = linked(self.gl, vertex=VERTEX, fragment=fragment, used=False)
        self.programs[fragment] = program
        return program

    def upload(self, scene: Scene) -> int:
        gl: Any = self.gl
        target = GL_TARGET[scene.target]
        internal, transfer, type_, _, _ = GL_FORMAT[scene.format]
        texture = gl.gen_textures(1)[0]
        gl.bind_texture(target, texture)
        for level, data in enumerate(scene.contents()):
            width, height, depth = scene.level_size(level)
            data = np.ascontiguousarray(data)
            if scene.target is Target.TEXTURE_CUBE:
                for face in range(6):
                    place = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
                    gl.tex_image2d(
                        place, level, internal, width, height, 0, transfer, type_, data[face].copy()
                    )
            elif scene.target is Target.TEXTURE_1D:
                gl.tex_image1d(target, level, internal, width, 0, transfer, type_, data)
            elif scene.target is Target.TEXTURE_1D_ARRAY:
                gl.tex_image2d(target, level, internal, width, depth, 0, transfer, type_, data)
            elif scene.target in _VOLUMES:
                gl.tex_image3d(
                    target, level, internal, width, height, depth, 0, transfer, type_, data
                )
            else:
                gl.tex_image2d(target, level, internal, width, height, 0, transfer, type_, data)
        s = scene.sampler
        if scene.target is not Target.TEXTURE_RECT:
            gl.tex_parameteri(target, GL.TEXTURE_MAX_LEVEL, scene.levels - 1)
        wraps = zip(
            (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T, GL.TEXTURE_WRAP_R),
            (s.wrap_s, s.wrap_t, s.wrap_r),
            strict=True,
        )
        for name, mode in wraps:
            gl.tex_parameteri(target, name, GL_WRAP[mode])
        mag = GL.NEAREST if s.mag_img_filter is Filter.NEAREST else GL.LINEAR
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, mag)
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, gl_min_filter(s))
        gl.tex_parameterf(target, GL.TEXTURE_MIN_LOD, s.min_lod)
        gl.tex_parameterf(target, GL.TEXTURE_MAX_LOD, s.max_lod)
        gl.tex_parameterf(target, GL.TEXTURE_LOD_BIAS, s.lod_bias)
        gl.tex_parameterfv(target, GL.TEXTURE_BORDER_COLOR, np.array(s.border_color, np.float32))
        if s.compare_enabled:
            gl.tex_parameteri(target, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
            gl.tex_parameteri(target, GL.TEXTURE_COMPARE_FUNC, GL.NEVER + int(s.compare_func))
        (gl.enable if s.seamless_cube_map else gl.disable)(GL.TEXTURE_CUBE_MAP_SEAMLESS)
        return int(texture)

    def render(self, scene: Scene, expression: str) -> tuple[Array, Array]:
        """What was sampled, and where: `[SIZE, SIZE, 4]` each."""
        gl: Any = self.gl
        gl.make_current()
        texture = self.upload(scene)
        program = self.program(fragment_source(scene, expression))
        gl.use_program(program)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        results = []
        for i in range(2):
            gl.read_buffer(GL.COLOR_ATTACHMENT0 + i)
            out = np.zeros((SIZE, SIZE, 4), np.float32)
            gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.FLOAT, out)
            results.append(out)
        gl.delete_textures(1, np.array([texture], np.uint32))
        assert gl.get_error() == 0
        return results[0], results[1]


def build(scene: Scene, ledger: ResourceLedger) -> HostResource:
    """The same texture in numpipe."""
    target = scene.target
    layered = target is not Target.TEXTURE_3D
    desc = ResourceDesc(
        target,
        FORMATS[scene.format],
        scene.width,
        scene.height,
        1 if layered else scene.depth,
        scene.depth if layered else 1,
        scene.levels - 1,
    )
    resource = create_resource(desc, ledger)
    for level, data in enumerate(scene.contents()):
        raw = np.ascontiguousarray(data).view(np.uint8)
        resource.storage[level][...] = raw.reshape(resource.storage[level].shape)
    resource.touch()
    return resource


def to_quads(image: Array) -> Array:
    """`[height, width]` to lanes in 2x2 groups."""
    height, width = image.shape
    return np.ascontiguousarray(
        image.reshape(height // 2, 2, width // 2, 2).swapaxes(1, 2).reshape(-1)
    )


def from_quads(lanes: Array) -> Array:
    return lanes.reshape(SIZE // 2, SIZE // 2, 2, 2).swapaxes(1, 2).reshape(SIZE, SIZE)


def sample(scene: Scene, where: Array, op: str, **how: Any) -> Array:
    """What numpipe samples there: `[SIZE, SIZE, 4]`."""
    resource = build(scene, ResourceLedger())
    count = len(SAMPLER[scene.target][1])
    last_layer = 0 if scene.target is Target.TEXTURE_3D else scene.depth - 1
    view = SamplerView(
        resource, resource.desc.format, scene.target, 0, scene.levels - 1, 0, last_layer
    )
    unit = texture_unit(view, scene.sampler)
    coords = [to_quads(where[..., c]) for c in range(count)]
    every = [to_quads(where[..., c]) for c in range(4)]
    how = {k: v(every) if callable(v) else v for k, v in how.items()}
    found = unit.sample(op, coords, SIZE * SIZE, quads=True, **how)
    return np.stack([from_quads(np.broadcast_to(p, (SIZE * SIZE,))) for p in found], axis=-1)
