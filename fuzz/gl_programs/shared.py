"""Programs of two contexts that use the same objects: made in one, changed, drawn with and deleted
in the other.

What one context changed is seen by the other behind a finish, when the object is bound again
(specification, chapter 5); an object that was deleted lives on where it is still bound.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzz.gl_programs.beside import MARKS
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.kind import FEWEST_DRAWS
from fuzz.gl_programs.run import Side, perform, queueing
from fuzz.gl_programs.size import SIZE
from fuzz.gl_programs.world import World
from gallette.state_tracker import GL

__all__ = ["Sharing", "generate_shared"]

FRAGMENTS = ("color", "textured", "fetched", "discarding")
FORMATS = ("RGBA8", "RGBA8", "RGB10_A2", "RGBA16F", "SRGB8_ALPHA8", "R8")


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


class Sharing:
    """Two contexts of one side that share their objects; a program has the names of both."""

    def __init__(self, side: str, profile: str) -> None:
        self._side = side
        one = Side(side, profile)
        two = Side(side, profile, one)
        two.world.linked, two.world.uses = one.world.linked, one.world.uses
        self._sides = one, two

    def run(self, lines: Sequence[str]) -> list[Seen]:
        """What both see, in the order in which they do."""
        seen: list[Seen] = []
        names: dict[str, Any] = {"GL": GL, "np": np}
        keeps, last = self._side == "native", list[str]()
        helpers = [Shared(side.world, seen, keeps, last) for side in self._sides]
        with queueing(self._side):
            for line in lines:
                which = MARKS.index(line[: len(MARKS[0])])
                side = self._sides[which]
                side.gl.make_current()
                names |= {"gl": side.gl, "w": side.world, "sh": helpers[which]}
                perform(line[len(MARKS[0]) :], names, seen)
            for side, helper in zip(self._sides, helpers, strict=True):
                side.gl.make_current()
                helper.release()
            for side in self._sides:
                side.gl.make_current()
                side.world.reset()
        return seen

    def release(self) -> None:
        """Give the contexts back."""
        for side in reversed(self._sides):
            side.release()


class _Names:
    """The objects there are, and what each context has bound."""

    def __init__(self) -> None:
        self.made = 0
        self.textures: dict[str, int] = {}  # their sizes
        self.buffers: list[str] = []
        self.programs: list[str] = []
        self.targets: list[str] = []

    def fresh(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"


def generate_shared(seed: int, steps: int, family: int) -> list[str]:
    """The lines of a program, each with the mark of its context; names are those of both."""
    state, data = random.Random(seed // family), random.Random(seed)
    names, lines, draws = _Names(), [], 0

    def say(mark: str, *what: str) -> None:
        lines.append(mark + "; ".join(what) + "; gl.finish()")

    def number() -> int:
        return data.randrange(1 << 16)

    def texture(mark: str) -> str:
        name, size = names.fresh("texture"), state.choice([4, 8, 16])
        say(mark, f"{name} = w.texture(GL.{state.choice(FORMATS)}, {number()}, {size})")
        names.textures[name] = size
        return name

    def buffer(mark: str) -> str:
        name = names.fresh("buffer")
        say(mark, f"{name} = w.storage(w.vertices({number()}, 12))")
        names.buffers.append(name)
        return name

    def program(mark: str) -> None:
        name, fragment = names.fresh("program"), state.choice(FRAGMENTS)
        vertex = state.choice(["plain", "instanced"])
        say(mark, f"{name} = w.program({vertex!r}, {fragment!r})")
        names.programs.append(name)

    def target(mark: str) -> None:
        name = names.fresh("target")
        say(
            mark,
            f"{name} = w.texture(GL.{state.choice(('RGBA8', 'RGBA16'))}, {number()}, {SIZE})",
        )
        names.targets.append(name)

    def sixteenths() -> str:
        return f"({data.randrange(-8, 9) / 16}, {data.randrange(-8, 9) / 16}, 0.0, 0.0)"

    def draw(mark: str) -> None:
        nonlocal draws
        draws += 1
        of = state.choice(names.buffers)
        what = [f"sh.target({state.choice(names.targets)})"]
        what.append(f"gl.bind_texture(GL.TEXTURE_2D, {state.choice([*names.textures])})")
        what.append(f"sh.array_of({of!r}, {of}, {state.random() < 0.4})")
        tint = tuple(data.randrange(1, 5) / 4 for _ in range(4))
        what.append(f"sh.draw({state.choice(names.programs)}, {tint}, {sixteenths()})")
        if state.random() < 0.5:  # once more, with all that is bound
            what.append(f"sh.draw({state.choice(names.programs)}, {tint[::-1]}, {sixteenths()})")
        say(mark, *what)

    def change(mark: str) -> None:
        kind = state.randrange(5)
        if kind == 0:
            name, size = state.choice([*names.textures]), state.choice([4, 8, 16])
            names.textures[name] = size
            say(mark, f"sh.image({name}, GL.{state.choice(FORMATS)}, {number()}, {size})")
        elif kind == 1:
            name = state.choice([*names.textures, *names.targets])
            x, y = data.randrange(2), data.randrange(3)
            say(mark, f"sh.part({name}, {number()}, {x}, {y})")
        elif kind == 2:
            name = state.choice([*names.textures])
            pname, value = state.choice(
                [
                    ("TEXTURE_MAG_FILTER", "LINEAR"),
                    ("TEXTURE_MAG_FILTER", "NEAREST"),
                    ("TEXTURE_WRAP_S", "CLAMP_TO_EDGE"),
                    ("TEXTURE_WRAP_T", "MIRRORED_REPEAT"),
                    ("TEXTURE_SWIZZLE_R", "GREEN"),
                ]
            )
            say(mark, f"sh.parameter({name}, GL.{pname}, GL.{value})")
        else:
            name = state.choice(names.buffers)
            say(mark, f"sh.fill({name}, {number()}, {state.random() < 0.5})")

    def delete(mark: str) -> None:
        """What is deleted in one context and goes on in the other, then something new."""
        other = MARKS[1 - MARKS.index(mark)]
        draw(other)  # which has all of it bound now
        what = names.fresh("draw")
        lines[-1] += f"; sh.remember({(other + what)!r})"
        kind = state.randrange(3)
        if kind == 0:
            name = state.choice([*names.textures])
            say(mark, f"gl.delete_textures(1, np.array([{name}], 'u4'))")
            del names.textures[name]
            texture(mark)
        elif kind == 1:
            name = state.choice(names.buffers)
            say(mark, f"sh.delete_buffer({name})")
            names.buffers.remove(name)
            buffer(mark)
        else:
            name = state.choice(names.programs)
            say(mark, f"sh.delete_program({name})")
            names.programs.remove(name)
            program(mark)
        say(other, f"sh.again({(other + what)!r})")

    def fence(mark: str) -> None:
        name = names.fresh("sync")
        say(mark, f"{name} = sh.sync()")
        say(MARKS[1 - MARKS.index(mark)], f"sh.wait({name})")

    for mark in MARKS:
        for make in (texture, buffer, program, target):
            make(mark)
    state_lines = (
        "gl.enable(GL.BLEND); gl.blend_func(GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)",
        "gl.disable(GL.BLEND)",
        "gl.color_mask(1, 0, 1, 1)",
        "gl.color_mask(1, 1, 1, 1)",
        "gl.enable(GL.SCISSOR_TEST); gl.scissor(4, 4, 20, 20)",
        "gl.disable(GL.SCISSOR_TEST)",
    )

    def setting(mark: str) -> None:
        say(mark, state.choice(state_lines))

    choices = (texture, buffer, program, draw, change, delete, fence, setting)
    weights = (1, 1, 2, 12, 8, 4, 1, 3)
    done = 0
    while done < steps or draws < FEWEST_DRAWS:
        state.choices(choices, weights)[0](state.choice(MARKS))
        done += 1
    for name in names.targets:
        say(state.choice(MARKS), f"sh.see({name})")
    return lines
