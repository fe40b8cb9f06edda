"""What a program may call beside the GL: `h.program(...)`, `h.data(...)` and so on."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import numpy as np

from gallette.state_tracker import GL

from . import numbers

__all__ = ["Helpers"]

_STAGE_BITS = {
    "VERTEX": GL.VERTEX_SHADER_BIT,
    "TESS_CONTROL": GL.TESS_CONTROL_SHADER_BIT,
    "TESS_EVALUATION": GL.TESS_EVALUATION_SHADER_BIT,
    "GEOMETRY": GL.GEOMETRY_SHADER_BIT,
    "FRAGMENT": GL.FRAGMENT_SHADER_BIT,
}


class Helpers:
    """The helpers of one program; `refused` are logs of shaders that should have linked."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        self.refused: list[str] = []

    data = staticmethod(numbers.data)
    floats = staticmethod(numbers.floats)
    ints = staticmethod(numbers.integers)
    doubles = staticmethod(numbers.doubles)

    # -- programs --------------------------------------------------------------------------------

    def program(self, captured: Any = (), mode: int = 0, **sources: str) -> int:
        """A program of all these stages."""
        return self._linked(sources, captured, mode, False)

    def pipeline(self, **sources: str) -> int:
        """A pipeline of a program for each stage."""
        gl = self.gl
        (name,) = gl.create_program_pipelines(1)
        for stage, source in sources.items():
            gl.use_program_stages(
                name, _STAGE_BITS[stage], self._linked({stage: source}, (), 0, True)
            )
        return int(name)

    def _linked(self, sources: dict[str, str], captured: Any, mode: int, separable: bool) -> int:
        gl = self.gl
        name = gl.create_program()
        for stage, source in sources.items():
            shader = gl.create_shader(getattr(GL, f"{stage}_SHADER"))
            gl.shader_source(shader, source)
            gl.compile_shader(shader)
            if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                self.refused.append(gl.get_shader_info_log(shader))
            gl.attach_shader(name, shader)
            gl.delete_shader(shader)
        if captured:
            gl.transform_feedback_varyings(name, len(captured), list(captured), mode)
        gl.program_parameteri(name, GL.PROGRAM_SEPARABLE, int(separable))
        gl.program_parameteri(name, GL.PROGRAM_BINARY_RETRIEVABLE_HINT, 1)
        gl.link_program(name)
        if not gl.get_programiv(name, GL.LINK_STATUS)[0]:
            self.refused.append(gl.get_program_info_log(name))
        return int(name)

    def reload(self, program: int, seed: int) -> None:
        """A program's binary is loaded again; with a seed, with a few bytes changed."""
        gl = self.gl
        size = gl.get_programiv(program, GL.PROGRAM_BINARY_LENGTH)[0]
        length, format = np.zeros(1, np.int32), np.zeros(1, np.uint32)
        room = np.zeros(size, np.uint8)
        gl.get_program_binary(program, size, length, format, room)
        binary = room[: int(length[0])].tobytes()
        if seed:
            r = random.Random(seed)
            changed = bytearray(binary)
            for _ in range(r.choice((1, 1, 4))):
                if changed:
                    changed[r.randrange(len(changed))] = r.randrange(256)
            binary = bytes(changed[: r.choice((None, None, r.randrange(len(changed) + 1)))])
        gl.program_binary(program, int(format[0]), binary, len(binary))

    # -- data ------------------------------------------------------------------------------------

    @staticmethod
    def indices(seed: int, size: int, word: str) -> bytes:
        """Indices: small ones, restarts, edges."""
        r = random.Random(seed)
        top = (1 << 8 * int(word[1])) - 1
        edges = (top, top, top - 1, 1000, 300, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31)
        values = [
            r.choice(edges) & top if r.random() < 0.08 else r.randrange(12)
            for _ in range(size // int(word[1]))
        ]
        return np.array(values, word).tobytes()

    @staticmethod
    def commands(seed: int, indexed: int) -> Any:
        """Commands of indirect draws, 256 bytes of them."""
        r = random.Random(seed)
        words: list[int] = []
        while len(words) < 64:
            wild = r.random() < 0.05
            count = (
                r.choice((0, 3, 3, 6, 9))
                if not wild
                else r.choice((0x7FFFFFFF, 100_000, 0xFFFFFFFF))
            )
            instances = (
                r.choice((0, 1, 1, 2)) if r.random() < 0.99 else r.choice((1000, 0xFFFFFFFF))
            )
            first = r.choice((0, 0, 1, 3)) if not wild else r.choice((1000, 0x7FFFFFFF, 0xFFFFFFFF))
            base = [numbers.integer(r) & 0xFFFFFFFF if wild else 0] if indexed else []
            last = r.choice((0, 0, 1)) if not wild else 0xFFFFFFFF
            words += [count, instances, first, *base, last]
        return np.array(words[:64], np.uint32)

    @staticmethod
    def groups(seed: int, count: int) -> Any:
        """Numbers of workgroups, or of draws: small ones, seldom others."""
        r = random.Random(seed)
        return np.array(
            [
                r.choice((0, 1, 1, 2, 3))
                if r.random() < 0.995
                else r.choice((65535, 65536, 1 << 31))
                for _ in range(count)
            ],
            np.uint32,
        )

    def write(self, address: Any, seed: int, size: int) -> None:
        """Data through a mapping, if there is one."""
        if address:
            ctypes.memmove(int(address), self.data(seed, size), size)
