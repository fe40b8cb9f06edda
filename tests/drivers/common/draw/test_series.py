"""A series of draws, and of queries between them, is what it would be one by one."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.draw.snapshot import PreparedDraw
from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.enums import QueryType
from gallette.pipe.state import QueryChange
from gallette.state_tracker import GL
from tests.state_tracker.stream.worlds import SIZE, World


class Repeating:
    """Draws to the window, to a texture, and one that samples this; the second is there once more
    in another color."""

    def __init__(self) -> None:
        self.found: list[tuple[PreparedDraw, bytes]] = []
        self.world = world = World("numpipe", 5)
        gl = world.gl
        gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 1], np.float32))
        self.draw(0, world.textures[0], 0.3)
        self.draw(0, world.images[0], 1)  # while the same framebuffer is bound
        self.draw(world.targets[0], world.textures[0], 0.6)
        self.found.insert(1, self.found.pop())
        token, data = self.found[1]
        self.found.append((token, data.replace(np.float32(0.6).tobytes(), bytes(4))))
        gl.finish()
        self.pipe, self.query = gl.pipe, gl.pipe.create_query(QueryType.OCCLUSION_COUNTER)

    def draw(self, target: int, texture: int, tint: float) -> None:
        gl = self.world.gl
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.uniform4fv(self.world.tint, 1, np.full(4, tint, np.float32))
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        token = gl.pipe.prepared_draw(gl.stream.drawn)
        assert token is not None
        self.found.append((token, bytes(gl.programs.executable.uniforms.data)))

    def series(self, *entries: int | bool) -> Series:
        """Of draws, by number, and a query: whether that begins."""
        changes = [QueryChange(self.query, True), QueryChange(self.query, False)]
        kinds = [*(token for token, _ in self.found), *changes]
        data = [*(data for _, data in self.found), b"", b""]
        which = [len(kinds) - 1 - entry if isinstance(entry, bool) else entry for entry in entries]
        sizes = np.array([len(data[kind]) for kind in which], np.int64)
        log = b"".join(data[kind] for kind in which)
        none = np.zeros(len(which), np.int64)
        pieces = Pieces.of((log,), none, np.cumsum(sizes) - sizes, sizes)
        return Series(kinds, np.array(which, np.int64), pieces, none)


@pytest.fixture
def repeating() -> Repeating:
    return Repeating()


def test_a_draw_that_samples_its_target_does_not_become_pending(repeating: Repeating) -> None:
    pipe, world = repeating.pipe, repeating.world
    world.gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    pictures = []
    for parts in (1, 6):
        world.gl.clear(GL.COLOR_BUFFER_BIT)
        for first in range(parts):
            entries = [0, 1, 0, 0, 2, 3][first : first + 1] if parts > 1 else [0, 1, 0, 0, 2, 3]
            series = repeating.series(*entries)
            assert pipe.draw_series(series) == len(entries)
            if parts > 1:
                pipe.execute_deferred()
        pipe.execute_deferred()
        pictures.append(world.read(0))
    assert pictures[0] == pictures[1]
    assert any(pictures[0])


def test_a_query_that_begins_after_several_targets_counts_later_draws(
    repeating: Repeating,
) -> None:
    pipe, query, world = repeating.pipe, repeating.query, repeating.world
    series = repeating.series(0, 1, 0, 1, 0, 0, True, 0, 0, False, 0)
    epoch = pipe.bound.epoch
    assert pipe.draw_series(series) == 7  # draws are others while somebody counts
    assert pipe.bound.counting_samples == 1
    assert query.active
    pipe.end_query(query)
    assert pipe.bound.epoch == epoch
    assert pipe.draw_series(repeating.series(0, 1, 0, 1, 0, 0, True)) == 7
    repeating.draw(world.targets[0], world.textures[0], 0.3)
    pipe.end_query(query)
    assert pipe.get_query_result(query, True) == 16 * 16


def test_the_result_of_a_query_is_known_after_its_end(repeating: Repeating) -> None:
    pipe, query, world = repeating.pipe, repeating.query, repeating.world
    world.gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    epoch = pipe.bound.epoch
    assert pipe.draw_series(repeating.series(0, 0, True, False, 0, True, False, True)) == 8
    assert pipe.bound.counting_samples == 1
    assert query.end is None
    assert pipe.bound.epoch > epoch
    assert pipe.draw_series(repeating.series(False, 0, 0, False, False, 0)) == 6
    assert (pipe.bound.counting_samples, pipe.bound.epoch) == (0, epoch)
    assert not query.active
    assert pipe.get_query_result(query, True) == 0  # not counted: nobody asked what they draw
    with_more = repeating.series(0, 0, True)
    assert pipe.draw_series(with_more) == 3
    repeating.draw(0, world.textures[0], 0.3)
    assert pipe.draw_series(repeating.series(False)) == 1
    assert pipe.get_query_result(query, True) == SIZE * SIZE
