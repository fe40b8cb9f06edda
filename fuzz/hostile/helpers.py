"""What a program may call beside the GL: data of any kind, and programs of shaders."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fuzz.gl_programs.shaders import link
from gallette.state_tracker import GL

from .numbers import BITS, FLOATS, integer


class Helpers:
    """The helpers of one program; `refused` are logs of shaders that should have linked."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        self.refused: list[str] = []

    # -- data ----------------------------------------------------------------------------------

    @staticmethod
    def ints(seed: int, count: int) -> Any:
        r = random.Random(seed)
        return np.array([integer(r) for _ in range(count)], np.int32)

    def uints(self, seed: int, count: int) -> Any:
        return self.ints(seed, count).view(np.uint32)

    @staticmethod
    def floats(seed: int, count: int) -> Any:
        """Floats of all kinds, half of them tame."""
        rng = np.random.default_rng(seed)
        tame = (rng.integers(-64, 65, count) / 16).astype(np.float32)
        bits = np.array(BITS, np.uint32).view(np.float32)
        wild = np.concatenate((np.array([*map(float, FLOATS)], np.float32), bits))
        return np.where(rng.random(count) < 0.6, tame, rng.choice(wild, count))

    def doubles(self, seed: int, count: int) -> Any:
        with np.errstate(invalid="ignore"):
            return self.floats(seed, count).astype(np.float64)

    @staticmethod
    def longs(seed: int, count: int) -> Any:
        """Offsets and sizes: most are small."""
        some = (0, 0, 4, 16, 64, 256, 1024, -1, 1 << 31, (1 << 62) - 1)
        return np.array(random.Random(seed).choices(some, k=count), np.int64)

    def bytes(self, seed: int, size: int) -> Any:
        """Floats, small numbers, edges, or anything."""
        rng, words = np.random.default_rng(seed), -(-size // 4)
        made = (
            lambda: self.floats(seed, words).tobytes(),
            lambda: self.ints(seed, words).tobytes(),
            lambda: rng.integers(0, 40, words, np.uint32).tobytes(),
            lambda: rng.bytes(size),
        )
        return made[seed % 4]()[:size]

    @staticmethod
    def array(values: list[int | float], dtype: str) -> Any:
        """The values as the type holds them."""
        kind = np.dtype(dtype)
        if kind.kind == "f":
            return np.array(values, kind)
        bits = 8 * kind.itemsize
        raw = [int(value) & ((1 << bits) - 1) for value in values]
        return np.array(raw, f"u{kind.itemsize}").view(kind)

    @staticmethod
    def indices(seed: int, size: int, word: str) -> Any:
        """Indices: small ones, restarts, edges."""
        r, top = random.Random(seed), (1 << 8 * int(word[1])) - 1
        edges = (top, top, top - 1, 1000, 300, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31)
        values = [
            r.choice(edges) & top if r.random() < 0.08 else r.randrange(12)
            for _ in range(size // int(word[1]))
        ]
        return np.array(values, word).tobytes()

    @staticmethod
    def commands(seed: int, indexed: int) -> Any:
        """Commands of indirect draws."""
        r = random.Random(seed)
        words: list[int] = []
        while len(words) < 64:
            wild = r.random() < 0.05
            count = r.choice((0x7FFFFFFF, 100_000, 0xFFFFFFFF) if wild else (0, 3, 3, 6, 9))
            instances = r.choice((0, 1, 1, 2)) if r.random() < 0.99 else 0xFFFFFFFF
            first = r.choice((1000, 0x7FFFFFFF, 0xFFFFFFFF) if wild else (0, 0, 1, 3))
            base = [integer(r) & 0xFFFFFFFF if wild else 0] if indexed else []
            words += [count, instances, first, *base, 0xFFFFFFFF if wild else r.choice((0, 1))]
        return np.array(words[:64], np.uint32)

    @staticmethod
    def counts(seed: int) -> Any:
        """Numbers of draws or of workgroups: small ones, seldom others."""
        r, often = random.Random(seed), (0, 1, 1, 2, 3)
        some = [
            r.choice(often if r.random() < 0.995 else (65535, 65536, 1 << 31)) for _ in "." * 16
        ]
        return np.array(some, np.uint32)

    # -- programs and framebuffers -------------------------------------------------------------

    def program(self, captured: Any = (), mode: int = 0, **sources: str) -> int:
        """A program of all these stages."""
        return self._linked(sources, captured, mode, False)

    def pipeline(self, **sources: str) -> int:
        """A pipeline of a program for each stage."""
        gl = self.gl
        (name,) = gl.create_program_pipelines(1)
        for stage, source in sources.items():
            made = self._linked({stage: source}, (), 0, True)
            gl.use_program_stages(name, getattr(GL, f"{stage}_SHADER_BIT"), made)
        return int(name)

    def _linked(self, sources: dict[str, str], captured: Any, mode: int, separable: bool) -> int:
        name, log = link(self.gl, sources, captured, mode, separable)
        if log:
            self.refused.append(log)
        return name

    def whole(self, framebuffers: list[int]) -> None:
        """Binds the last of these that is complete."""
        gl = self.gl
        for name in (*reversed(framebuffers), 0):
            gl.bind_framebuffer(GL.FRAMEBUFFER, name)
            if gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE:
                break
