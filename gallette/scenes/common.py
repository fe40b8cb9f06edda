"""The building blocks of scenes: passes, the registry, shaders, meshes and matrices.

A scene is an ordinary moderngl script, a Python file beside a file with its shaders. In a function
`render(ctx, size)` it draws, and after each interesting step yields a `Pass`: the picture, and
which pixels were touched. A scene that is made to be timed is a function `prepare(ctx, size)`
instead, which answers a function that draws one frame. Neither knows anything of gallette: the
same functions run on any GL that moderngl can drive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

Array = npt.NDArray[Any]


@lazy_dataclass(frozen=True)
class Pass:
    """One picture of a scene: colour (rows bottom up, RGBA, 8-bit or float) and coverage."""

    name: str
    color: Array
    coverage: Array
    note: str = ""


Render = Callable[[Any, tuple[int, int]], Iterator[Pass]]
Prepare = Callable[[Any, tuple[int, int]], Callable[[], None]]


@lazy_dataclass(frozen=True)
class Scene:
    """A registered scene.

    `render` draws it and yields its pictures. A scene that is made to be timed has `prepare`, which
    answers the function that draws a frame into the bound framebuffer, as often as it is called.
    `version` is the OpenGL that such a scene needs, as GLSL writes it, and `samples` how many of
    them per pixel.
    """

    name: str
    doc: str
    render: Render
    prepare: Prepare | None = None
    size: tuple[int, int] = (256, 192)
    version: int = 330
    samples: int = 0
    lesson: str = ""
    tags: tuple[str, ...] = field(default=())

    @property
    def multipass(self) -> bool:
        return "multipass" in self.tags


SCENES: dict[str, Scene] = {}
"""The scenes that yield pictures: what `gallette diff` compares."""

BENCHMARKS: dict[str, Scene] = {}
"""The scenes that are made to be timed: what `gallette bench` measures."""


def find_scene(name: str) -> Scene | None:
    """A scene of either kind; where both kinds have the name, the one that yields pictures."""
    return SCENES.get(name) or BENCHMARKS.get(name)


def scene(
    name: str, *, size: tuple[int, int] = (256, 192), lesson: str = "", tags: tuple[str, ...] = ()
) -> Callable[[Render], Render]:
    """Register a render function; the first paragraph of its docstring describes the scene."""

    def register(render: Render) -> Render:
        doc = " ".join((render.__doc__ or "").strip().split("\n\n")[0].split())
        SCENES[name] = Scene(name, doc, render, None, size, lesson=lesson, tags=tags)
        return render

    return register


def benchmark(
    name: str, size: tuple[int, int] = (512, 512), version: int = 330, samples: int = 0
) -> Callable[[Prepare], Prepare]:
    """Register a function that prepares a frame; its docstring's first line describes it."""

    def register(prepare: Prepare) -> Prepare:
        doc = (prepare.__doc__ or "").strip().splitlines()[0]
        render = _one_frame(prepare)
        BENCHMARKS[name] = Scene(name, doc, render, prepare, size, version, samples)
        return prepare

    return register


def _one_frame(prepare: Prepare) -> Render:
    """The picture of a benchmark's first frame."""

    def render(ctx: Any, size: tuple[int, int]) -> Iterator[Pass]:
        target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
        target.use()
        draw = prepare(ctx, size)
        target.use()
        target.clear()
        draw()
        yield capture("frame", target)

    return render


def shaders(script: str) -> dict[str, str]:
    """The shaders of `NAME.glsl` beside the script `NAME.py`, by the names over them.

    A line `// --- NAME ---` begins each of them.
    """
    text = Path(script).with_suffix(".glsl").read_text(encoding="utf-8")
    parts = re.split(r"^// --- (.+) ---$\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


COMMON = shaders(__file__)
"""The shaders of several scenes."""


def capture(name: str, framebuffer: Any, *, attachment: int = 0, note: str = "") -> Pass:
    """Read a colour attachment. Pixels with an alpha above zero are covered: clear with alpha 0."""
    width, height = framebuffer.size
    is_float = framebuffer.color_attachments[attachment].dtype != "f1"
    dtype = "f4" if is_float else "f1"
    data = framebuffer.read(components=4, attachment=attachment, dtype=dtype)
    kind: Any = np.float32 if is_float else np.uint8
    color: Array = np.frombuffer(data, kind).reshape(height, width, 4).copy()
    return Pass(name, color, color[..., 3] > 0, note)


def capture_depth(name: str, depth_texture: Any, note: str = "") -> Pass:
    """Read a depth texture as a grey picture. Pixels nearer than the far plane are covered."""
    width, height = depth_texture.size
    depth = np.frombuffer(depth_texture.read(alignment=4), np.float32).reshape(height, width)
    color = np.repeat(depth[..., None], 4, axis=2)
    color[..., 3] = 1
    return Pass(name, color, depth < 1, note)


def upload(ctx: Any, program: Any, layout: str, data: Array, names: str, mode: Any = None) -> Any:
    """A vertex array of interleaved float data, without attributes that the program does not
    have.
    """
    buffer = ctx.buffer(np.ascontiguousarray(data, np.float32).tobytes())
    parts, kept, formats = names.split(), [], []
    for part, form in zip(parts, layout.split(), strict=True):
        present = part in program
        kept += [part] if present else []
        formats.append(form if present else f"{int(form[:-1]) * 4}x")
    return ctx.vertex_array(program, [(buffer, " ".join(formats), *kept)], mode=mode)


def raw(ctx: Any) -> Any:
    """The GL functions that moderngl lacks (`gl.stencil_func(...)`), for the scenes that use
    them.

    The code that creates a scene's context puts them into `ctx.extra`.
    """
    if ctx.extra is None:
        raise RuntimeError("this scene calls OpenGL itself: ctx.extra must have the functions")
    return ctx.extra


def screen_filler(ctx: Any, fragment: str, vertex: str = COMMON["full_screen"]) -> tuple[Any, Any]:
    """A program that draws over everything with the given fragment shader, and its vertex array."""
    program = ctx.program(vertex_shader=vertex, fragment_shader=fragment)
    return program, upload(ctx, program, "2f", quad(), "position", ctx.TRIANGLE_STRIP)


def with_stencil(ctx: Any, size: tuple[int, int]) -> tuple[Any, int]:
    """A framebuffer with colour, depth and stencil, and the renderbuffer of the latter two."""
    gl = raw(ctx)
    target = ctx.framebuffer([ctx.texture(size, 4)], ctx.depth_renderbuffer(size))
    (buffer,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(0x8D41, buffer)
    gl.renderbuffer_storage(0x8D41, 0x88F0, *size)  # DEPTH24_STENCIL8
    gl.bind_framebuffer(0x8D40, target.glo)
    gl.framebuffer_renderbuffer(0x8D40, 0x821A, 0x8D41, buffer)  # DEPTH_STENCIL_ATTACHMENT
    target.use()
    return target, int(buffer)


def quad() -> Array:
    """A full-screen strip: position xy."""
    return np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)


def _triangles(grid: Array, columns: int, rows: int) -> Array:
    """Triangle list out of a (rows+1) x (columns+1) grid of vertices."""
    r, c = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    a = r * (columns + 1) + c
    b, d = a + 1, a + columns + 1
    e = d + 1
    indices = np.stack([a, b, d, d, b, e], axis=-1).reshape(-1)
    flat: Array = grid.reshape(-1, grid.shape[-1])[indices]
    return flat


def sphere(columns: int = 32, rows: int = 16, radius: float = 1.0) -> Array:
    """A triangle list: position xyz, normal xyz, uv."""
    v, u = np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1), indexing="ij")
    phi, theta = u * 2 * np.pi, v * np.pi
    n = np.stack([np.sin(theta) * np.cos(phi), -np.cos(theta), -np.sin(theta) * np.sin(phi)], -1)
    grid = np.concatenate([n * radius, n, u[..., None], v[..., None]], axis=-1)
    return _triangles(grid, columns, rows).astype(np.float32)


def torus(columns: int = 32, rows: int = 16, outer: float = 0.75, inner: float = 0.3) -> Array:
    """A triangle list: position xyz, normal xyz, uv."""
    v, u = np.meshgrid(np.linspace(0, 1, rows + 1), np.linspace(0, 1, columns + 1), indexing="ij")
    a, b = u * 2 * np.pi, v * 2 * np.pi
    n = np.stack([np.cos(a) * np.cos(b), np.sin(b), -np.sin(a) * np.cos(b)], -1)
    ring = np.stack([np.cos(a), np.zeros_like(a), -np.sin(a)], -1) * outer
    grid = np.concatenate([ring + n * inner, n, u[..., None], v[..., None]], axis=-1)
    return _triangles(grid, columns, rows).astype(np.float32)


def plane(half: float = 2.0, y: float = -1.0) -> Array:
    """A square on the ground: position xyz, normal xyz, uv."""
    p = [(-half, half), (half, half), (-half, -half), (-half, -half), (half, half), (half, -half)]
    rows = [(x, y, z, 0, 1, 0, x / half * 0.5 + 0.5, z / half * 0.5 + 0.5) for x, z in p]
    return np.array(rows, np.float32)


def perspective(degrees: float, aspect: float, near: float, far: float) -> Array:
    """A projection matrix (to be multiplied with column vectors)."""
    f = 1 / np.tan(np.radians(degrees) / 2)
    m = np.zeros((4, 4))
    m[0, 0], m[1, 1] = f / aspect, f
    m[2, 2], m[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    m[3, 2] = -1
    return m


def look_at(eye: tuple[float, ...], target: tuple[float, ...] = (0, 0, 0)) -> Array:
    """A view matrix, y up."""
    e, t = np.array(eye, float), np.array(target, float)
    f = (t - e) / np.linalg.norm(t - e)
    s = np.cross(f, (0.0, 1.0, 0.0))
    s /= np.linalg.norm(s)
    u = np.cross(s, f)
    m = np.eye(4)
    m[0, :3], m[1, :3], m[2, :3] = s, u, -f
    m[:3, 3] = -m[:3, :3] @ e
    return m


def gl_matrix(m: Array) -> bytes:
    """Column-major float32 bytes, as uniforms take them."""
    return np.ascontiguousarray(m.T, np.float32).tobytes()
