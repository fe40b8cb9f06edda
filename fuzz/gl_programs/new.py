"""What a program of `modern` may call beside the GL: stages, layered targets, images, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.gl_programs.common import EDGE, SIZE
from fuzz.gl_programs.shaders import source
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
_STAGES = ("VERTEX", "TESS_CONTROL", "TESS_EVALUATION", "GEOMETRY", "FRAGMENT")


class New:
    """The helpers of one context's world."""

    def __init__(self, world: World) -> None:
        self.gl, self.world = world.gl, world

    @staticmethod
    def f(*values: float) -> Any:
        return np.array(values, np.float32)

    # -- programs ------------------------------------------------------------------------------

    @staticmethod
    def _sources(vertex: str, evaluation: str, geometry: str, fragment: str) -> dict[str, str]:
        wanted = {
            "vertex": vertex,
            "tess_control": "control" if evaluation else "",
            "tess_evaluation": evaluation,
            "geometry": geometry,
            "fragment": fragment,
        }
        return {stage: source("new", stage, name) for stage, name in wanted.items() if name}

    def program(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """One program of all stages."""
        return self._linked(self._sources(vertex, evaluation, geometry, fragment), False)

    def pipeline(self, vertex: str, evaluation: str, geometry: str, fragment: str) -> int:
        """A pipeline with a program of its own for each stage; none is in use instead of it."""
        gl = self.gl
        (name,) = gl.gen_program_pipelines(1)
        for stage, text in self._sources(vertex, evaluation, geometry, fragment).items():
            bit = getattr(GL, f"{stage.upper()}_SHADER_BIT")
            gl.use_program_stages(name, bit, self._linked({stage: text}, True))
        return int(name)

    def kernel(self, name: str) -> int:
        return self._linked({"compute": source("new", "compute", name)}, False)

    def _linked(self, sources: dict[str, str], separable: bool) -> int:
        """One of those that are kept for the next program; its uniforms are zero."""
        known, key = self.world.linked, ("stages", separable, *sources.values())
        if key not in known:
            texts = {stage: "#version 450\n" + text for stage, text in sources.items()}
            known[key] = self.world.link(texts, separable=separable)
        for location in (0, 1):
            self.set(known[key], location, 0.0, 0.0, 0.0, 0.0)
        return known[key]

    def set(self, program: int, location: int, *values: float) -> None:
        """A vec4 at this location, if the program has one there."""
        if location in self._locations(program):
            self.gl.program_uniform4f(program, location, *values)

    def _locations(self, program: int) -> set[int]:
        names = ("offset", "tint")
        return {self.gl.get_uniform_location(program, name) for name in names}

    def set_all(self, pipeline: int, location: int, *values: float) -> None:
        """The uniforms of the programs of a pipeline."""
        for stage in _STAGES:
            kind = getattr(GL, f"{stage}_SHADER")
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
        name = self.world.gen("textures")
        self.gl.bind_texture(GL.TEXTURE_2D, name)
        self.gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.R32UI, EDGE, EDGE)
        zeros = np.zeros((EDGE, EDGE), np.uint32)
        self.gl.tex_sub_image2d(
            GL.TEXTURE_2D, 0, 0, 0, EDGE, EDGE, GL.RED_INTEGER, GL.UNSIGNED_INT, zeros
        )
        self.gl.bind_texture(GL.TEXTURE_2D, 0)
        return name

    def texture(self, kind: str, seed: int) -> int:
        """A texture of 8 texels along each axis, whose filter is the nearest."""
        gl, target, name = self.gl, _TARGETS[kind], self.world.gen("textures")
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
        gl = self.gl
        texture = self._stored(kind, samples, GL.RGBA8)
        name = self.world.gen("framebuffers")
        gl.bind_framebuffer(GL.FRAMEBUFFER, name)
        gl.framebuffer_texture(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, texture, 0)
        if depth:
            other = self._stored(kind, samples, GL.DEPTH_COMPONENT24)
            gl.framebuffer_texture(GL.FRAMEBUFFER, GL.DEPTH_ATTACHMENT, other, 0)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        return name, texture

    def _stored(self, kind: str, samples: int, format: int) -> int:
        """A texture to draw to."""
        gl, texture = self.gl, self.world.gen("textures")
        at = _TARGETS["ms" if samples else kind]
        gl.bind_texture(at, texture)
        if samples:
            gl.tex_storage2d_multisample(at, samples, format, SIZE, SIZE, 1)
        elif kind in ("2d", "cube"):
            gl.tex_storage2d(at, 1, format, SIZE, SIZE)
        else:
            gl.tex_storage3d(at, 1, format, SIZE, SIZE, 2)
        gl.bind_texture(at, 0)
        return texture
