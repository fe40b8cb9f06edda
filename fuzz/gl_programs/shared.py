"""Programs of two contexts that use the same objects: made in one, changed, drawn with and deleted
in the other.

What one context changed is seen by the other behind a finish, when the object is bound again
(specification, chapter 5); an object that was deleted lives on where it is still bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fuzz.gl_programs.common import MARKS, SIZE
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.kind import Kind
from fuzz.gl_programs.world import World
from fuzz.gl_programs.writer import Writer
from gallette.state_tracker import GL

__all__ = ["Shared", "generate_shared"]

FRAGMENTS = ("color", "textured", "fetched", "discarding")
FORMATS = ("RGBA8", "RGBA8", "RGB10_A2", "RGBA16F", "SRGB8_ALPHA8", "R8")
PARAMETERS = (
    "GL.TEXTURE_MAG_FILTER, GL.LINEAR",
    "GL.TEXTURE_MAG_FILTER, GL.NEAREST",
    "GL.TEXTURE_WRAP_S, GL.CLAMP_TO_EDGE",
    "GL.TEXTURE_WRAP_T, GL.MIRRORED_REPEAT",
    "GL.TEXTURE_SWIZZLE_R, GL.GREEN",
)
SETTINGS = (
    "gl.enable(GL.BLEND); gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)",
    "gl.disable(GL.BLEND)",
    "gl.color_mask(1, 0, 1, 1)",
    "gl.color_mask(1, 1, 1, 1)",
    "gl.enable(GL.SCISSOR_TEST); gl.scissor(4, 4, 20, 20)",
    "gl.disable(GL.SCISSOR_TEST)",
)


class Shared:
    """The helpers of one of the contexts."""

    def __init__(self, world: World, seen: list[Seen], keeps: bool, last: list[str]) -> None:
        self.keeps, self.last = keeps, last
        self.gl, self.world, self.seen = world.gl, world, seen
        self.arrays: dict[int, int] = {}
        self.framebuffer = 0

    def image(self, texture: int, format: int, seed: int, size: int) -> None:
        """A texture's image anew, of another size perhaps."""
        self.gl.bind_texture(GL.TEXTURE_2D, texture)
        data = self.world.texels(seed, size, size)
        image = (GL.TEXTURE_2D, 0, format, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        self.gl.tex_image2d(*image)

    def part(self, texture: int, seed: int, x: int, y: int) -> None:
        """Three texels by two of it."""
        self.gl.bind_texture(GL.TEXTURE_2D, texture)
        data = self.world.texels(seed, 3, 2)
        self.gl.tex_sub_image2d(GL.TEXTURE_2D, 0, x, y, 3, 2, GL.RGBA, GL.UNSIGNED_BYTE, data)

    def parameter(self, texture: int, name: int, value: int) -> None:
        self.gl.bind_texture(GL.TEXTURE_2D, texture)
        self.gl.tex_parameteri(GL.TEXTURE_2D, name, value)

    def fill(self, buffer: int, seed: int, whole: bool) -> None:
        """Other vertices in a buffer: new storage, or a part of the present one."""
        gl = self.gl
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        if whole:
            data = self.world.vertices(seed, 12)
            gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.DYNAMIC_DRAW)
        else:
            gl.buffer_sub_data(GL.ARRAY_BUFFER, 120, 120, self.world.vertices(seed, 3))

    def array_of(self, key: int, buffer: int, fresh: bool) -> None:
        """A vertex array that reads a buffer: one that has been here before, if it may be."""
        if fresh or key not in self.arrays:
            self.arrays[key] = self.world.array(buffer)
        self.gl.bind_vertex_array(self.arrays[key])

    def target(self, texture: int) -> None:
        """Draw into a texture."""
        if not self.framebuffer:
            (self.framebuffer,) = self.gl.gen_framebuffers(1)
        self.gl.bind_framebuffer(GL.FRAMEBUFFER, self.framebuffer)
        attached = (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
        self.gl.framebuffer_texture2d(*attached)

    def draw(self, program: int, tint: Sequence[float], offset: Sequence[float]) -> None:
        gl = self.gl
        gl.use_program(program)
        # llvmpipe keeps what a context had before when what others set meanwhile is set again.
        self.world.uniform(program, "tint", 7.0, 7.0, 7.0, 7.0)
        self.world.uniform(program, "offset", 7.0, 7.0, 7.0, 7.0)
        self.world.uniform(program, "tint", *tint)
        self.world.uniform(program, "offset", *offset)
        self.last[:] = []
        gl.draw_arrays(GL.TRIANGLES, 0, 12)
        gl.finish()

    def remember(self, what: str) -> None:
        """What was drawn last (the reducer takes lines away), to be drawn `again`."""
        self.last[:] = [what]

    def again(self, what: str) -> None:
        """With all that is still bound: no object has been bound again, or drawn with elsewhere."""
        if self.last == [what]:
            self.gl.draw_arrays(GL.TRIANGLES, 0, 12)

    def see(self, texture: int) -> None:
        """What a texture holds that was drawn to."""
        self.target(texture)
        raw = self.gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
        pixels = np.frombuffer(bytes(raw), np.uint8).reshape(SIZE, SIZE, 4)
        self.seen.append(Seen("shared", pixels, 20))

    def delete_buffer(self, buffer: int) -> None:
        """llvmpipe keeps what it may go on drawing with: it would crash (so with programs)."""
        if not self.keeps:
            self.gl.delete_buffers(1, np.array([buffer], np.uint32))

    def delete_program(self, program: int) -> None:
        if not self.keeps:
            self.world.drop(program)

    def release(self) -> None:
        """Delete what is of this context alone: buffers go last, for llvmpipe has use of them."""
        self.gl.bind_vertex_array(0)
        self.world.delete("vertex_arrays")
        if self.framebuffer:
            self.gl.delete_framebuffers(1, np.array([self.framebuffer], np.uint32))

    def sync(self) -> Any:
        return self.gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)

    def wait(self, sync: Any) -> None:
        self.gl.wait_sync(sync, 0, GL.TIMEOUT_IGNORED)
        found = self.gl.client_wait_sync(sync, 0, 10**9)
        done = found in (GL.ALREADY_SIGNALED, GL.CONDITION_SATISFIED)
        self.seen.append(Seen("sync", done))
        self.gl.delete_sync(sync)


class _Both:
    """The objects of both contexts while steps are written."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.textures: dict[str, int] = {}  # their sizes
        self.buffers: list[str] = []
        self.programs: list[str] = []
        self.targets: list[str] = []

    def say(self, mark: str, *what: str) -> None:
        """A line of one of the contexts."""
        self.w.say(f"{mark}{'; '.join(what)}; gl.finish()")


SHARED: Kind[_Both] = Kind(())
_Step = Callable[[_Both, str], None]


def step(weight: int) -> Callable[[_Step], _Step]:
    """A step of either context, whose mark it gets."""

    def register(function: _Step) -> _Step:
        SHARED.step(weight)(lambda both: function(both, both.w.r.choice(MARKS)))
        return function

    return register


@step(1)
def texture(both: _Both, mark: str) -> None:
    w = both.w
    name, size = w.fresh("texture"), w.r.choice([4, 8, 16])
    both.say(mark, f"{name} = w.texture({w.pick(FORMATS)}, {w.seed()}, {size})")
    both.textures[name] = size


@step(1)
def buffer(both: _Both, mark: str) -> None:
    name = both.w.fresh("buffer")
    both.say(mark, f"{name} = w.storage(w.vertices({both.w.seed()}, 12))")
    both.buffers.append(name)


@step(2)
def program(both: _Both, mark: str) -> None:
    name, fragment = both.w.fresh("program"), both.w.r.choice(FRAGMENTS)
    vertex = both.w.choice("plain", "instanced")
    both.say(mark, f"{name} = w.program({vertex!r}, {fragment!r})")
    both.programs.append(name)


def target(both: _Both, mark: str) -> None:
    w = both.w
    name = w.fresh("target")
    both.say(mark, f"{name} = w.texture({w.pick(('RGBA8', 'RGBA16'))}, {w.seed()}, {SIZE})")
    both.targets.append(name)


@step(12)
def draw(both: _Both, mark: str) -> None:
    w = both.w
    w.draws += 1
    of = w.r.choice(both.buffers)
    what = [f"sh.target({w.r.choice(both.targets)})"]
    what.append(f"gl.bind_texture(GL.TEXTURE_2D, {w.r.choice([*both.textures])})")
    what.append(f"sh.array_of({of!r}, {of}, {w.often(0.4)})")
    tint = tuple(w.data.randrange(1, 5) / 4 for _ in range(4))
    what.append(_drawn(both, tint))
    if w.often(0.5):  # once more, with all that is bound
        what.append(_drawn(both, tint[::-1]))
    both.say(mark, *what)


def _drawn(both: _Both, tint: Sequence[float]) -> str:
    program, place = both.w.r.choice(both.programs), (both.w.sixteenths(8), both.w.sixteenths(8))
    return f"sh.draw({program}, {tint}, {(*place, 0.0, 0.0)})"


@step(8)
def change(both: _Both, mark: str) -> None:
    w = both.w
    kind = w.number(5)
    if kind == 0:
        name, size = w.r.choice([*both.textures]), w.r.choice([4, 8, 16])
        both.textures[name] = size
        both.say(mark, f"sh.image({name}, {w.pick(FORMATS)}, {w.seed()}, {size})")
    elif kind == 1:
        name = w.r.choice([*both.textures, *both.targets])
        x, y = w.data.randrange(2), w.data.randrange(3)
        both.say(mark, f"sh.part({name}, {w.seed()}, {x}, {y})")
    elif kind == 2:
        name = w.r.choice([*both.textures])
        both.say(mark, f"sh.parameter({name}, {w.r.choice(PARAMETERS)})")
    else:
        name = w.r.choice(both.buffers)
        both.say(mark, f"sh.fill({name}, {w.seed()}, {w.often(0.5)})")


@step(4)
def delete(both: _Both, mark: str) -> None:
    """What is deleted in one context and goes on in the other, then something new."""
    w, other = both.w, MARKS[1 - MARKS.index(mark)]
    draw(both, other)  # which has all of it bound now
    what = repr(other + w.fresh("draw"))
    w.lines[-1] += f"; sh.remember({what})"
    kind = w.number(3)
    if kind == 0:
        name = w.r.choice([*both.textures])
        both.say(mark, f"gl.delete_textures(1, np.array([{name}], 'u4'))")
        del both.textures[name]
        texture(both, mark)
    else:
        known, made, call = (
            (both.buffers, buffer, "delete_buffer"),
            (both.programs, program, "delete_program"),
        )[kind - 1]
        name = w.r.choice(known)
        both.say(mark, f"sh.{call}({name})")
        known.remove(name)
        made(both, mark)
    both.say(other, f"sh.again({what})")


@step(1)
def fence(both: _Both, mark: str) -> None:
    name = both.w.fresh("sync")
    both.say(mark, f"{name} = sh.sync()")
    both.say(MARKS[1 - MARKS.index(mark)], f"sh.wait({name})")


@step(3)
def setting(both: _Both, mark: str) -> None:
    both.say(mark, both.w.r.choice(SETTINGS))


def generate_shared(w: Writer, steps: int) -> None:
    """The lines of a program, each with the mark of its context; names are those of both."""
    both = _Both(w)
    for mark in MARKS:
        for make in (texture, buffer, program, target):
            make(both, mark)
    SHARED.walk(w, both, steps)
    for name in both.targets:
        both.say(w.r.choice(MARKS), f"sh.see({name})")
