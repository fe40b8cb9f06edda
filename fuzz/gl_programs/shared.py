"""What programs of two contexts may call (`shared.txt`): objects that both use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzz.gl_programs.common import SIZE
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.world import World
from gallette.state_tracker import GL


class Shared:
    """The helpers of one of the contexts."""

    def __init__(self, world: World, seen: list[Seen], keeps: bool, last: list[str]) -> None:
        self.keeps, self.last = keeps, last
        self.gl, self.world, self.seen = world.gl, world, seen
        self.arrays: dict[int, int] = {}
        self.framebuffer = 0

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

    def wait(self, sync: Any) -> None:
        self.gl.wait_sync(sync, 0, GL.TIMEOUT_IGNORED)
        found = self.gl.client_wait_sync(sync, 0, 10**9)
        done = found in (GL.ALREADY_SIGNALED, GL.CONDITION_SATISFIED)
        self.seen.append(Seen("sync", done))
        self.gl.delete_sync(sync)
