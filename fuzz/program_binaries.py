"""Damaged and hostile program binaries: glProgramBinary links or says why not, and draws succeed.

    python -m fuzz program-binaries --count 5000 --driver jit

Binaries of a few programs are asked for with glGetProgramBinary; a mutant has bytes changed or,
mostly, the description inside: fields, numbers, texts, lines of GLSL, words of SPIR-V. What links
is asked about and drawn with. An exception, a crash or a lost process is a finding.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import gallette
from fuzz.damage import change_somewhere, damaged, glsl, spirv
from fuzz.gl_programs.shaders import link, source
from fuzz.harness import Fuzzer, silenced
from gallette.compiler.spirv.assembler import assemble
from gallette.piglit_subset.spirv import PASSTHROUGH
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.shading.program_binaries import _MAGIC, FORMAT


class Subject:
    """A context that programs are loaded into, and binaries of programs that link there."""

    def __init__(self, driver: str) -> None:
        self.driver = driver
        self.gl: Any = None
        self._begin()
        self.seeds = [self._binary(make) for make in (self._drawn, self._shaped, self._computed,
                                                       self._captured, self._spirv)]  # fmt: skip

    def _begin(self) -> None:
        if self.gl is not None:
            self.gl.release()
        gl: Any = gallette.create_context(self.driver, version=(4, 5), size=(8, 8))
        self.gl = gl
        gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
        data = np.tile(np.float32([-1, -1, 0, 1, 1, -1, 0, 1, 0, 1, 0, 1]), 16)
        for target, point in (
            (GL.ARRAY_BUFFER, None),
            (GL.UNIFORM_BUFFER, 0),
            (GL.SHADER_STORAGE_BUFFER, 1),
            (GL.TRANSFORM_FEEDBACK_BUFFER, 0),
        ):
            (buffer,) = gl.gen_buffers(1)
            gl.bind_buffer(target, buffer)
            gl.buffer_data(target, data.nbytes, data, GL.STATIC_DRAW)
            if point is not None:
                gl.bind_buffer_base(target, point, buffer)
        for index in range(4):
            gl.enable_vertex_attrib_array(index)
            gl.vertex_attrib_pointer(index, 4, GL.FLOAT, False, 16, 0)
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 4, 4)

    def _linked(self, *stages: str, **how: Any) -> int:
        """A program of stages of `shaders.txt`."""
        split = (stage.split() for stage in stages)
        texts = {stage: source("binary", stage, name) for stage, name in split}
        return link(self.gl, texts, **how)[0]

    def _drawn(self) -> int:
        made = self._linked("vertex drawn", "fragment drawn")
        self.gl.bind_attrib_location(made, 2, "place")
        self.gl.bind_frag_data_location(made, 0, "color")
        self.gl.link_program(made)
        return made

    def _shaped(self) -> int:
        return self._linked("vertex drawn", "geometry shaped", "fragment shaped")

    def _computed(self) -> int:
        return self._linked("compute computed")

    def _captured(self) -> int:
        return self._linked("vertex drawn", captured=("at", "gl_Position"), separable=True)

    def _spirv(self) -> int:
        texts = {"vertex": PASSTHROUGH, "fragment": source("spirv", "fragment", "shaded")}
        modules = {stage: assemble(text).to_bytes() for stage, text in texts.items()}
        return link(self.gl, modules, constants={"fragment": {3: 0x3F000000}})[0]

    def _binary(self, make: Callable[[], int]) -> bytes:
        made = make()
        if not self.gl.get_programiv(made, GL.LINK_STATUS)[0]:
            raise RuntimeError(self.gl.get_program_info_log(made))
        return bytes(self.gl.get_program_binary(made)[1])

    def drop_errors(self) -> None:
        while self.gl.get_error():
            pass
        if self.gl.lost:
            self._begin()


def mutated(seeds: list[bytes], number: int) -> bytes:
    """The binary of a case."""
    random_ = random.Random(number)
    raw = seeds[number % len(seeds)]
    if random_.random() < 0.15:
        return damaged(raw, random_)
    described = json.loads(zlib.decompress(raw[len(_MAGIC) :]))
    other = json.loads(zlib.decompress(random_.choice(seeds)[len(_MAGIC) :]))
    for _ in range(random_.choice((1, 1, 1, 2, 4))):
        random_.choice((_field, _field, _glsl, _glsl, _spirv, _shaders))(described, other, random_)
    return _MAGIC + zlib.compress(json.dumps(described).encode())


def _field(described: Any, other: Any, random_: random.Random) -> None:
    """Some value anywhere in the description."""
    change_somewhere(described, random_, but="made by")


def _listed(described: Any) -> list[dict[str, Any]]:
    """The shaders that are still descriptions."""
    shaders = described.get("shaders")
    return [s for s in shaders if isinstance(s, dict)] if isinstance(shaders, list) else []


def _glsl(described: Any, other: Any, random_: random.Random) -> None:
    """Tokens of a source are others."""
    shaders = [s for s in _listed(described) if s.get("source")]
    sources = [s["source"] for s in other["shaders"] if s["source"]] or [""]
    if shaders:
        shader = random_.choice(shaders)
        shader["source"] = glsl(str(shader["source"]), sources, random_)


def _spirv(described: Any, other: Any, random_: random.Random) -> None:
    """Words of a module are others."""
    for shader in _listed(described):
        if shader.get("code") and isinstance(shader["code"], str):
            try:
                code = base64.b64decode(shader["code"])
            except ValueError:
                return
            code = code[: len(code) // 4 * 4]
            shader["code"] = base64.b64encode(spirv(code, random_)).decode()


def _shaders(described: Any, other: Any, random_: random.Random) -> None:
    """Shaders are gone, doubled, or another program's."""
    shaders = described.get("shaders")
    if not isinstance(shaders, list) or not shaders:
        return
    kind = random_.randrange(3)
    if kind == 0:
        del shaders[random_.randrange(len(shaders))]
    elif kind == 1:
        shaders += copy.deepcopy(shaders[:1]) * random_.choice((1, 3))
    else:
        shaders.append(random_.choice(other["shaders"]))


def attempt(subject: Subject, binary: bytes) -> str:
    """`linked` or `refused`; what goes wrong otherwise escapes."""
    gl = subject.gl
    made = gl.create_program()
    gl.program_binary(made, FORMAT, binary, len(binary))
    linked = gl.get_programiv(made, GL.LINK_STATUS)[0]
    gl.get_program_info_log(made).encode()
    if linked:
        for index in range(gl.get_programiv(made, GL.ACTIVE_UNIFORMS)[0]):
            gl.get_active_uniform(made, index)
        gl.use_program(made)
        gl.draw_arrays(GL.TRIANGLES, 0, 6)
        gl.draw_arrays_instanced(GL.POINTS, 0, 3, 2)
        gl.dispatch_compute(2, 1, 1)
        gl.finish()
        gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE)
        subject.drop_errors()
        if subject.gl is gl:
            again = gl.get_program_binary(made)
            gl.program_binary(made, FORMAT, again[1], len(again[1]))
            assert gl.get_programiv(made, GL.LINK_STATUS) == [1], gl.get_program_info_log(made)
            gl.use_program(0)
    subject.drop_errors()
    if subject.gl is gl:
        gl.delete_program(made)
    return "linked" if linked else "refused"


class ProgramBinaries(Fuzzer[bytes]):
    """Mutants of the binaries that a context gives."""

    limit = 90.0

    def __init__(self, options: argparse.Namespace, prepared: Any) -> None:
        super().__init__(options, prepared)
        self.subject = Subject(options.driver)

    def make(self, number: int) -> bytes:
        return mutated(self.subject.seeds, number)

    def attempt(self, given: bytes) -> str:
        with silenced():
            return attempt(self.subject, given)

    def release(self) -> None:
        self.subject.gl.release()


FUZZER = ProgramBinaries
