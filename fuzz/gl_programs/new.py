"""What a program of `modern` may call beside the GL: stages, layered targets, images, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.old import EDGE
from fuzz.gl_programs.shaders import source
from fuzz.gl_programs.size import SIZE
from gallette.state_tracker import GL

if TYPE_CHECKING:
    from fuzz.gl_programs.world import World

__all__ = ["New"]

_TARGETS = {
    "1d": GL.TEXTURE_1D,
    "2d": GL.TEXTURE_2D,
    "3d": GL.TEXTURE_3D,
    "cube": GL.TEXTURE_CUBE_MAP,
    "array": GL.TEXTURE_2D_ARRAY,
    "cubes": GL.TEXTURE_CUBE_MAP_ARRAY,
    "rect": GL.TEXTURE_RECTANGLE,
    "buffer": GL.TEXTURE_BUFFER,
    "i": GL.TEXTURE_2D,
    "u": GL.TEXTURE_2D,
    "ms": GL.TEXTURE_2D_MULTISAMPLE,
}
_BITS = {
    GL.VERTEX_SHADER: GL.VERTEX_SHADER_BIT,
    GL.TESS_CONTROL_SHADER: GL.TESS_CONTROL_SHADER_BIT,
    GL.TESS_EVALUATION_SHADER: GL.TESS_EVALUATION_SHADER_BIT,
    GL.GEOMETRY_SHADER: GL.GEOMETRY_SHADER_BIT,
    GL.FRAGMENT_SHADER: GL.FRAGMENT_SHADER_BIT,
}


class New:
    """The helpers of one context's world."""

    def __init__(self, world: World, seen: list[Seen]) -> None:
        self.gl, self.world, self.seen = world.gl, world, seen

    @staticmethod
    def f(*values: float) -> Any:
        return np.array(values, np.float32)

    # -- programs ------------------------------------------------------------------------------

    @staticmethod
    def _sources(vertex: str, evaluation: str, geometry: str, fragment: str) -> dict[int, str]:
        wanted = {
            "vertex": vertex,
            "tess_control": "control" if evaluation else "",
            "tess_evaluation": evaluation,
            "geometry": geometry,
            "fragment": fragment,
        }
        return {
            getattr(GL, f"{stage.upper()}_SHADER"): source("new", stage, name)
            for stage, name in wanted.items()
            if name
        }

    def program(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """One program of all stages."""
        return self._linked(self._sources(vertex, evaluation, geometry, fragment), False)

    def pipeline(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """A pipeline with a program of its own for each stage; none is in use instead of it."""
        gl = self.gl
        (name,) = gl.gen_program_pipelines(1)
        for kind, text in self._sources(vertex, evaluation, geometry, fragment).items():
            gl.use_program_stages(name, _BITS[kind], self._linked({kind: text}, True))
        return int(name)

    def kernel(self, name: str) -> int:
        return self._linked({GL.COMPUTE_SHADER: source("new", "compute", name)}, False)

    def _linked(self, sources: dict[int, str], separable: bool) -> int:
        gl, key = self.gl, ("stages", separable, *sources.values())
        known: dict[Any, int] = self.world.linked  # type: ignore[assignment]
        if key not in known:
            name = gl.create_program()
            for kind, text in sources.items():
                shader = gl.create_shader(kind)
                gl.shader_source(shader, "#version 450\n" + text)
                gl.compile_shader(shader)
                if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                    raise RuntimeError(gl.get_shader_info_log(shader))
                gl.attach_shader(name, shader)
                gl.delete_shader(shader)
            gl.program_parameteri(name, GL.PROGRAM_SEPARABLE, int(separable))
            gl.link_program(name)
            if not gl.get_programiv(name, GL.LINK_STATUS)[0]:
                raise RuntimeError(gl.get_program_info_log(name))
            known[key] = int(name)
        name = known[key]
        for location in (0, 1):
            self.set(name, location, 0.0, 0.0, 0.0, 0.0)
        return name

    def set(self, program: int, location: int, *values: float) -> None:
        """A vec4 at this location, if the program has one there."""
        if location in self._locations(program):
            self.gl.program_uniform4f(program, location, *values)

    def _locations(self, program: int) -> set[int]:
        names = ("offset", "tint")
        return {self.gl.get_uniform_location(program, name) for name in names}

    def set_all(self, pipeline: int, location: int, *values: float) -> None:
        """The uniforms of the programs of a pipeline."""
        for kind in _BITS:
            (program,) = self.gl.get_program_pipelineiv(pipeline, kind)[:1]
            if program:
                self.set(int(program), location, *values)

    def choose(self, program: int, function: str) -> None:
        """The subroutine of the program in use."""
        index = self.gl.get_subroutine_index(program, GL.FRAGMENT_SHADER, function)
        self.gl.uniform_subroutinesuiv(GL.FRAGMENT_SHADER, 1, np.array([index], np.uint32))

    # -- memory --------------------------------------------------------------------------------

    def colors(self, seed: int) -> Any:
        """512 bytes of colours."""
        return np.random.default_rng(seed).integers(0, 5, 128).astype(np.float32) / 4

    def counts(self) -> int:
        """An image of zeros."""
        name = self._made()
        self.gl.bind_texture(GL.TEXTURE_2D, name)
        self.gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.R32UI, EDGE, EDGE)
        zeros = np.zeros((EDGE, EDGE), np.uint32)
        self.gl.tex_sub_image2d(
            GL.TEXTURE_2D, 0, 0, 0, EDGE, EDGE, GL.RED_INTEGER, GL.UNSIGNED_INT, zeros
        )
        self.gl.bind_texture(GL.TEXTURE_2D, 0)
        return name

    def _made(self) -> int:
        (name,) = self.gl.gen_textures(1)
        self.world.keep("textures", int(name))
        return int(name)

    def texture(self, kind: str, seed: int) -> int:
        """A texture of 8 texels along each axis, whose filter is the nearest."""
        gl, target, name = self.gl, _TARGETS[kind], self._made()
        random = np.random.default_rng(seed)
        if kind == "buffer":
            gl.bind_texture(target, name)
            gl.tex_buffer(target, GL.RGBA32F, self.world.storage(self.colors(seed)))
            return name
        gl.bind_texture(target, name)
        if kind == "ms":
            gl.tex_storage2d_multisample(target, 4, GL.RGBA8, EDGE, EDGE, 1)
            self._cleared(name, seed)
            return name
        gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
        gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
        for axis in "STR":
            wrap = GL.CLAMP_TO_EDGE if kind == "rect" else GL.REPEAT
            gl.tex_parameteri(target, getattr(GL, f"TEXTURE_WRAP_{axis}"), wrap)
        internal, format, type, dtype = {
            "i": (GL.RGBA8I, GL.RGBA_INTEGER, GL.BYTE, np.int8),
            "u": (GL.RGBA8UI, GL.RGBA_INTEGER, GL.UNSIGNED_BYTE, np.uint8),
        }.get(kind, (GL.RGBA8, GL.RGBA, GL.UNSIGNED_BYTE, np.uint8))
        depth = {"1d": 0, "3d": 8, "array": 3, "cubes": 12}.get(kind, 1)
        shape = (depth, EDGE, EDGE, 4) if depth else (EDGE, 4)
        texels = (random.integers(0, 5, shape) * 63).astype(dtype)
        if kind == "1d":
            gl.tex_image1d(target, 0, internal, EDGE, 0, format, type, texels)
        elif kind == "cube":
            for face in range(6):
                at = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
                gl.tex_image2d(at, 0, internal, EDGE, EDGE, 0, format, type, texels // (face + 1))
        elif depth > 1:
            gl.tex_image3d(target, 0, internal, EDGE, EDGE, depth, 0, format, type, texels)
        else:
            gl.tex_image2d(target, 0, internal, EDGE, EDGE, 0, format, type, texels)
        return name

    def _cleared(self, texture: int, seed: int) -> None:
        """Samples have the colours of a clear: they cannot be uploaded."""
        color = np.random.default_rng(seed).integers(0, 5, 4) * 63
        self.gl.clear_tex_image(texture, 0, GL.RGBA, GL.UNSIGNED_BYTE, color.astype(np.uint8))

    # -- targets -------------------------------------------------------------------------------

    def target(self, kind: str, samples: int, depth: bool) -> tuple[int, int]:
        """A framebuffer with layers or samples, cleared and bound, and its texture."""
        gl, texture = self.gl, self._made()
        at = _TARGETS["ms" if samples else kind]
        gl.bind_texture(at, texture)
        if samples:
            gl.tex_storage2d_multisample(at, samples, GL.RGBA8, SIZE, SIZE, 1)
        elif kind == "2d" or kind == "cube":
            gl.tex_storage2d(at, 1, GL.RGBA8, SIZE, SIZE)
        else:
            gl.tex_storage3d(at, 1, GL.RGBA8, SIZE, SIZE, 2)
        gl.bind_texture(at, 0)
        name = self.world._gen("framebuffers")
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        gl.framebuffer_texture(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, texture, 0)
        if depth:
            self._depth(kind, samples)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        return name, texture

    def _depth(self, kind: str, samples: int) -> None:
        gl, texture = self.gl, self._made()
        at = _TARGETS["ms" if samples else kind]
        gl.bind_texture(at, texture)
        if samples:
            gl.tex_storage2d_multisample(at, samples, GL.DEPTH_COMPONENT24, SIZE, SIZE, 1)
        elif kind in ("2d", "cube"):
            gl.tex_storage2d(at, 1, GL.DEPTH_COMPONENT24, SIZE, SIZE)
        else:
            gl.tex_storage3d(at, 1, GL.DEPTH_COMPONENT24, SIZE, SIZE, 2)
        gl.bind_texture(at, 0)
        gl.framebuffer_texture(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, texture, 0)

    # -- what is seen --------------------------------------------------------------------------

    def see_target(self, target: tuple[int, int], kind: str, samples: int, draws: int) -> None:
        """All layers of a target; samples resolved."""
        gl, (name, texture) = self.gl, target
        if samples:
            plain = self.target("2d", 0, False)
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, name)
            box = (0, 0, SIZE, SIZE)
            gl.disable(GL.SCISSOR_TEST)
            gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
            texture, kind = plain[1], "2d"
        layers = {"2d": 1, "cube": 6}.get(kind, 2)
        raw = bytes(
            gl.get_texture_image(texture, 0, GL.RGBA, GL.UNSIGNED_BYTE, layers * SIZE * SIZE * 4)
        )
        pixels = np.frombuffer(raw, np.uint8).reshape(layers * SIZE, SIZE, 4)
        self.seen.append(Seen("layers", pixels, draws))

    def see_counts(self, image: int) -> None:
        self.gl.memory_barrier(GL.ALL_BARRIER_BITS)
        size = EDGE * EDGE * 4
        raw = bytes(self.gl.get_texture_image(image, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, size))
        self.seen.append(Seen("counts", np.frombuffer(raw, np.uint32).astype(np.int64)))

    def see_words(self, buffer: int, size: int, dtype: str) -> None:
        self.gl.memory_barrier(GL.ALL_BARRIER_BITS)
        raw = bytes(self.gl.get_named_buffer_sub_data(buffer, 0, size))
        found = np.frombuffer(raw, dtype)
        self.seen.append(Seen("words", found if dtype == "f4" else found.astype(np.int64)))
