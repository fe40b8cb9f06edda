"""Drawing with an arbitrary program: a square over the whole picture.

Attributes, uniforms and textures get values by their names and types; the primitives of the square
follow from the inputs of the geometry or tessellation shader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import GL_NAMES, Stage
from gallette.compiler.nir.ir.types import Base, Dim
from gallette.state_tracker.entry_points.enums import GL

SIZE = 256
_CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
# What a geometry shader takes: the mode of the draw, and the corners it is given.
_MODES = {
    "points": (GL.POINTS, [0, 1, 2, 3]),
    "lines": (GL.LINES, [0, 1, 2, 3]),
    "lines_adjacency": (GL.LINES_ADJACENCY, [0, 1, 2, 3]),
    "triangles_adjacency": (GL.TRIANGLES_ADJACENCY, [0, 0, 1, 3, 2, 2]),
}


@lazy_dataclass()
class UserSettings:
    """The user's settings: the clock, the pointer, a picture for each sampler by name."""

    time: float = 0.0
    mouse: tuple[float, ...] = (0.0, 0.0)
    textures: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def linked_program(gl: Any, texts: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """A linked program in use, and the log; 0 if it does not compile."""
    program, log = gl.create_program(), ""
    for stage, text in texts.items():
        shader = gl.create_shader(getattr(GL, f"{GL_NAMES[Stage(stage)]}_SHADER"))
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        log += gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
        gl.delete_shader(shader)
    ok = "error" not in log
    if ok:
        gl.link_program(program)
        log += gl.get_program_info_log(program)
        ok = bool(gl.get_programiv(program, GL.LINK_STATUS)[0])
    if ok:
        gl.use_program(program)
    try:
        yield (program if ok else 0), log
    finally:
        gl.use_program(0)
        gl.delete_program(program)
        while gl.get_error():
            pass


def draw(gl: Any, given: UserSettings) -> None:
    """Draw with the program in use."""
    linked = gl.programs.executable.linked
    textures: list[tuple[Any, int]] = []
    for uniform in linked.uniforms:
        if uniform.builtin or uniform.location < 0:
            continue
        if uniform.type.without_array.is_opaque:
            _set_sampler(gl, uniform, given, textures)
        else:
            _set_uniform(gl, uniform, given)
    mode, corners = _primitives(gl, linked)
    vertex_array, buffer = gl.gen_vertex_arrays(1)[0], gl.gen_buffers(1)[0]
    gl.bind_vertex_array(vertex_array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    columns = [_attribute(attribute.name.lower()) for attribute in linked.attributes]
    data = np.concatenate(columns, axis=1) if columns else np.zeros((4, 4), np.float32)
    data = np.ascontiguousarray(data[corners], np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    for i, attribute in enumerate(linked.attributes):
        if attribute.location >= 0:
            gl.enable_vertex_attrib_array(attribute.location)
            gl.vertex_attrib_pointer(attribute.location, 4, GL.FLOAT, 0, data.strides[0], 16 * i)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.draw_arrays(mode, 0, len(corners))
    gl.finish()
    gl.bind_vertex_array(0)
    gl.delete_vertex_arrays(1, [vertex_array])
    gl.delete_buffers(1, [buffer])
    for target, texture in textures:
        gl.bind_texture(target, 0)
        gl.delete_textures(1, [texture])


def _primitives(gl: Any, linked: Any) -> tuple[Any, list[int]]:
    """The mode of the draw and its corners: two triangles, unless the program requires others."""
    shaders = {stage.value: shader for stage, shader in linked.shaders.items()}
    if "tess_eval" in shaders:
        control = shaders.get("tess_ctrl")
        whole = control is None or control.info.vertices_out == 4
        gl.patch_parameteri(GL.PATCH_VERTICES, 4 if whole else 3)
        return GL.PATCHES, [0, 1, 2, 3] if whole else [0, 1, 2, 2, 1, 3]
    taken = shaders["geometry"].info.input_primitive if "geometry" in shaders else "triangles"
    return _MODES.get(taken, (GL.TRIANGLE_STRIP, [0, 1, 2, 3]))


def _attribute(name: str) -> npt.NDArray[np.float32]:
    """Four corners of an attribute, guessed from its name."""
    flat = np.zeros((4, 4), np.float32)
    if "norm" in name:
        flat[:, 2] = 1
    elif "col" in name:
        flat[:] = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1]]
    elif "uv" in name or "tex" in name:
        flat[:, :2] = _CORNERS * 0.5 + 0.5
    else:
        flat[:, :2], flat[:, 3] = _CORNERS, 1
    return flat


def _set_uniform(gl: Any, uniform: Any, given: UserSettings) -> None:
    """Set a uniform: `time` is the clock, `mouse` the pointer, matrices are identities, other
    numbers are a half.
    """
    kind, location = uniform.type.without_array, uniform.location
    if kind.is_matrix:
        if kind.columns == kind.rows and kind.base is Base.FLOAT:
            matrix = np.eye(kind.rows, dtype=np.float32)
            getattr(gl, f"uniform_matrix{kind.rows}fv")(location, 1, 0, matrix)
        return
    name = uniform.name.lower()
    value = given.time if name in ("time", "t", "now", "itime") else 0.5
    if "resolution" in name:
        value = float(SIZE)
    if kind.base is Base.FLOAT:
        values = np.full(kind.components, value, np.float32)
        if "mouse" in name:
            values[:2] = given.mouse[: kind.components]
        getattr(gl, f"uniform{kind.components}fv")(location, 1, values)
    elif kind.base in (Base.INT, Base.BOOL, Base.UINT):
        unsigned = kind.base is Base.UINT
        whole = np.ones(kind.components, np.uint32 if unsigned else np.int32)
        getattr(gl, f"uniform{kind.components}{'ui' if unsigned else 'i'}v")(location, 1, whole)


# -- textures --------------------------------------------------------------------------------------


def _checks() -> npt.NDArray[np.uint8]:
    y, x = np.mgrid[0:64, 0:64]
    light = np.where((x // 8 + y // 8) % 2 == 0, 230, 60)
    return np.stack([light, light, light, np.full_like(light, 255)], -1).astype(np.uint8)


def _ramps() -> npt.NDArray[np.uint8]:
    y, x = np.mgrid[0:64, 0:64] * 255 // 63
    return np.stack([x, y, np.full_like(x, 128), np.full_like(x, 255)], -1).astype(np.uint8)


def _noise() -> npt.NDArray[np.uint8]:
    found = np.random.default_rng(7).integers(0, 256, (64, 64, 4), np.uint8)
    found[..., 3] = 255
    return found


def _numbered() -> npt.NDArray[np.uint8]:
    """Sixteen tiles in different colours, so that the texture coordinate of a pixel can be seen."""
    y, x = np.mgrid[0:64, 0:64] // 16
    hue = (x + 4 * y) / 16
    waves = [0.5 + 0.5 * np.cos(6.2832 * (hue + shift)) for shift in (0.0, 0.33, 0.67)]
    return (np.stack([*waves, np.ones_like(hue)], -1) * 255).astype(np.uint8)


PICTURES = {"checks": _checks, "ramps": _ramps, "noise": _noise, "tiles": _numbered}
_TARGETS = {
    Dim.D1: GL.TEXTURE_1D,
    Dim.D2: GL.TEXTURE_2D,
    Dim.D3: GL.TEXTURE_3D,
    Dim.CUBE: GL.TEXTURE_CUBE_MAP,
}


def samplers_of(gl: Any) -> list[str]:
    """The samplers of the program in use for which a picture can be chosen."""
    linked = gl.programs.executable.linked
    return [u.name for u in linked.uniforms if u.location >= 0 and _target(u.type) is not None]


def _target(type: Any) -> Any:
    """The target of a sampler that the explorer has textures for; None for images, arrays and
    samplers of integers or comparisons.
    """
    kind = type.without_array
    if not kind.is_sampler or kind.is_arrayed or kind.is_shadow or kind.sampled is not Base.FLOAT:
        return None
    return _TARGETS.get(kind.dim)


def _set_sampler(
    gl: Any, uniform: Any, given: UserSettings, textures: list[tuple[Any, int]]
) -> None:
    """Bind a new texture with the picture that was chosen, or the next of the list."""
    target = _target(uniform.type)
    if target is None:
        return
    unit = len(textures)
    chosen = given.textures.get(uniform.name, list(PICTURES)[unit % len(PICTURES)])
    picture = np.ascontiguousarray(PICTURES.get(chosen, _checks)())
    texture = gl.gen_textures(1)[0]
    gl.active_texture(GL.TEXTURE0 + unit)
    gl.bind_texture(target, texture)
    rgba = GL.RGBA, GL.UNSIGNED_BYTE
    if target == GL.TEXTURE_1D:
        gl.tex_image1d(target, 0, GL.RGBA8, 64, 0, *rgba, picture[32])
    elif target == GL.TEXTURE_3D:
        whole = np.ascontiguousarray(np.broadcast_to(picture, (16, *picture.shape)))
        gl.tex_image3d(target, 0, GL.RGBA8, 64, 64, 16, 0, *rgba, whole)
    else:
        faces = range(6) if target == GL.TEXTURE_CUBE_MAP else (None,)
        for face in faces:
            place = target if face is None else GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
            gl.tex_image2d(place, 0, GL.RGBA8, 64, 64, 0, *rgba, picture)
    gl.generate_mipmap(target)
    gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    gl.uniform1i(uniform.location, unit)
    textures.append((target, texture))
