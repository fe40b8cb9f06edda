"""What is remembered of draws, and how long: streams, calls, positions, states, framebuffers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw import (
    positions,
    reaching,
    remembering,
    repeating,
    streaming,
    waiting,
)
from gallette.drivers.common.draw.clearing import Clear
from gallette.drivers.common.draw.positions import FewVertices, PositionsFirst
from gallette.drivers.common.draw.remembering import Memory
from gallette.drivers.common.draw.repeating import Repeatable
from gallette.drivers.common.draw.streaming import Stream, stream_of
from gallette.drivers.common.draw.targets import Targets
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import PolygonMode, Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import (
    DrawInfo,
    FramebufferState,
    ScissorState,
    Surface,
    VertexBuffer,
    VertexElement,
)

TRIANGLES = Primitive.TRIANGLES
VECTOR = FORMATS["R32G32B32_FLOAT"]  # 12 bytes


def buffer(width: int = 64) -> HostResource:
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], width)
    return HostResource(desc, lambda _: None, [np.zeros((1, 1, width), np.uint8)])


# -- streams ---------------------------------------------------------------------------------------


def stream(width: int = 64, divisor: int = 0, versions: int = 3, last: int = 12) -> Stream:
    now: Any = SimpleNamespace(moved={})
    return Stream(now, now, width, 16, last, divisor, versions)


@pytest.mark.parametrize(("width", "rows"), [(64, 4), (63, 4), (65, 5)])
def test_a_call_begins_in_each_version(width: int, rows: int) -> None:
    """So many rows of 16 bytes further."""
    info = DrawInfo(TRIANGLES, start=1, count=3)
    calls = stream(width).calls(info)
    assert [call.start for call in calls] == [1, 1 + rows, 1 + 2 * rows]
    assert all(call.count == 3 and call.start_instance == 0 for call in calls)
    assert calls[0] is info


@pytest.mark.parametrize("last", [12, 16])
def test_calls_that_could_read_beyond_a_version_have_none(last: int) -> None:
    """The last of `start + count` rows ends `last` bytes behind its begin."""
    info = DrawInfo(TRIANGLES, start=1, count=3)
    assert stream(3 * 16 + last, last=last).calls(info)
    assert stream(3 * 16 + last - 1, last=last).calls(info) == []


def test_calls_of_instances_begin_at_other_instances() -> None:
    info = DrawInfo(TRIANGLES, start=9, count=99, instance_count=5, start_instance=1)
    calls = stream(divisor=2, versions=2).calls(info)
    assert [(call.start, call.start_instance) for call in calls] == [(9, 1), (9, 5)]
    assert stream(48 + 12, divisor=2).calls(info)  # row 1 + 4 // 2 is the last
    assert stream(48 + 11, divisor=2).calls(info) == []
    assert stream(divisor=1).calls(DrawInfo(TRIANGLES, count=3)) == []
    assert stream(divisor=1).calls(DrawInfo(TRIANGLES, count=3, instance_count=2))


def test_calls_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for more versions; all are forgotten when there are many."""
    few, info, other = stream(versions=2), DrawInfo(TRIANGLES, count=3), DrawInfo(TRIANGLES)
    calls = [*few.calls(info)]
    assert few.calls(info) is few.calls(info)
    few.versions = 4
    more = few.calls(info)
    assert [a is b for a, b in zip(more, calls, strict=False)] == [True, True]
    assert [call.start for call in more] == [0, 4, 8, 12]
    monkeypatch.setattr(streaming, "_MOST_CALLS", 5)
    few.calls(other)
    assert len(few.now.moved) == 2 and few.calls(info) is more
    few.calls(DrawInfo(TRIANGLES, count=2))  # eight there are now
    assert len(few.now.moved) == 1 and few.calls(info) is not more
    few.now.moved.clear()
    kept = few.calls(info)
    monkeypatch.setattr(streaming, "_MOST_CALLS", 4)
    few.calls(other)
    assert len(few.now.moved) == 1 and few.calls(info) is not kept


def test_versions_lie_one_behind_the_other() -> None:
    """Each begins at a row."""
    written = buffer(6)
    whole = streaming._Everything(written, [b"abcdef", b"ghijkl"], 4)
    data = b"abcdef\0\0ghijkl\0\0"
    held = whole.contents(-1).tobytes()
    assert held.startswith(data) and not held[len(data) :].strip(b"\0")
    made = whole.version(-1)
    assert made.desc.width == len(held) and whole.version(-1) is made
    assert made.storage[0].tobytes() == held
    assert made.desc.target is Target.BUFFER
    assert streaming._Everything(buffer(4), [b"abcd", b"efgh"], 4).contents(0).tobytes() == (
        b"abcdefgh"
    )


def draws(
    elements: Any, buffers: Any, reached: int, sees: bool = False, facts: Any = (), **more: Any
) -> Any:
    bound = SimpleNamespace(
        elements=SimpleNamespace(state=elements),
        vertex_buffers=buffers,
        stages={},
        shaders={},
        framebuffer=FramebufferState(),
    )
    program = SimpleNamespace(facts=SimpleNamespace(system_values=frozenset(facts)))
    selection = SimpleNamespace(stages={Stage.VERTEX: program})
    found = SimpleNamespace(
        states=SimpleNamespace(bound=bound),
        family=(),
        reads=(),
        scissors=0,
        viewports=0,
        blocks=(),
        buffers=(),
        versions={},
        moved={},
        reach=lambda which: [()] * reached,
        sees_start=lambda mode: sees,
        selection=lambda mode: None if more.get("lost") else selection,
    )
    found.like = found
    return found


WRITTEN, OTHER = buffer(640), buffer()


def element(slot: int, divisor: int = 0, offset: int = 4) -> VertexElement:
    return VertexElement(offset, slot, VECTOR, divisor)


def streamed(elements: Any, buffers: Any, reached: int = 1, **more: Any) -> Stream | None:
    given = draws(elements, buffers, reached, **more)
    return stream_of(given, TRIANGLES, WRITTEN, [bytes(640)] * 2)


INSIDE = VertexBuffer(WRITTEN, 8, 32)


def test_a_stream_is_made_of_what_vertices_read() -> None:
    found = streamed([element(0), element(0, offset=16)], [INSIDE], 2)
    assert found is not None
    assert (found.width, found.stride, found.divisor, found.versions) == (640, 32, 0, 2)
    assert found.last == 16 + 8 + 12  # the end of the element that ends last
    mixed = streamed([element(0), element(1, 3)], [INSIDE, VertexBuffer(OTHER, 0, 4)])
    assert mixed is not None and mixed.divisor == 0
    instances = streamed([element(0, 3), element(1), element(0, 2)], [INSIDE, None], 2)
    assert instances is not None and instances.divisor == 2
    # What repeats one value, and what has no buffer, begins nowhere.
    still = [INSIDE, VertexBuffer(OTHER, 0, 0)]
    assert streamed([element(0), element(1), element(2)], still) is not None


@pytest.mark.parametrize(
    ("elements", "buffers", "reached", "more"),
    [
        ([element(0)], [VertexBuffer(OTHER, 0, 32)], 1, {}),
        ([element(0)], [VertexBuffer(WRITTEN, 0, 0)], 1, {}),
        ([element(0)], [INSIDE], 2, {}),  # something else reads there
        ([element(0)], [INSIDE], 1, {"sees": True}),
        ([element(0)], [INSIDE], 1, {"lost": True}),
        ([element(0)], [INSIDE], 1, {"facts": ["vertex_id"]}),
        ([element(0), element(1)], [INSIDE, VertexBuffer(WRITTEN, 8, 16)], 2, {}),
        ([element(0), element(0, 1)], [INSIDE], 2, {}),
        ([element(0), element(1)], [INSIDE, VertexBuffer(OTHER, 0, 4)], 1, {}),
        ([element(0, 2), element(1, 1)], [INSIDE, VertexBuffer(OTHER, 0, 4)], 1, {}),
    ],
)
def test_what_is_no_stream(elements: Any, buffers: Any, reached: int, more: Any) -> None:
    assert streamed(elements, buffers, reached, **more) is None


# -- calls that come again -------------------------------------------------------------------------


def test_moved_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "_MOST_STARTS", 2)
    plans: list[Any] = [None]
    given: Any = SimpleNamespace(made_plan=lambda mode: plans[0])
    info = DrawInfo(TRIANGLES, start=2, count=3)
    draw = Repeatable(given, info, FramebufferState(), 0, True, 3)
    assert draw.call(2) is info
    first, second = draw.call(0), draw.call(1)
    assert (first.start, first.count, second.start) == (0, 3, 1)
    assert draw.call(0) is first and draw.call(1) is second
    assert draw.call(5).start == 5
    assert draw.call(0) is not first  # all were forgotten
    assert draw.made_plan() is None
    plans[0] = object()
    kept = draw.made_plan()
    assert kept is plans[0]
    plans[0] = None
    assert draw.made_plan() is kept


def test_who_writes_tells_that_contents_are_others() -> None:
    written = buffer(8)
    assert written.derive("kept", written.memory.tobytes) == bytes(8)
    repeating.write_now(SimpleNamespace(buffer=written), 2, b"abc")  # type: ignore[arg-type]
    assert written.memory.tobytes() == b"\0\0abc\0\0\0"
    assert written.derive("kept", written.memory.tobytes) == b"\0\0abc\0\0\0"


# -- positions first -------------------------------------------------------------------------------


class _Shader:
    """So many instructions in all, so many for the position."""

    def __init__(self, whole: int, place: int, effects: bool = False) -> None:
        self.whole, self.place, self.effects = whole, place, effects
        self.compiler = SimpleNamespace(positions_first=True)
        self.reads = SimpleNamespace(has_varyings=True)
        self.bound: list[Any] = []

    def variant_for(self, key: Any) -> Any:
        count = self.place if key.depth_only else self.whole
        facts = SimpleNamespace(has_side_effects=self.effects)
        program = SimpleNamespace(facts=facts, bind=lambda resources: ("bound", count))
        shader = SimpleNamespace(count_instrs=lambda: count)
        return SimpleNamespace(program=program, shader=shader)


def first(whole: int = 1000, place: int = 10, effects: bool = False) -> PositionsFirst:
    from gallette.drivers.common.variants.keys import VertexKey

    shader: Any = _Shader(whole, place, effects)
    filled: Any = SimpleNamespace(fill_front=PolygonMode.FILL, fill_back=PolygonMode.FILL)
    found = PositionsFirst.of(shader, VertexKey(), filled, False)
    assert found is not None
    return found


NOTHING: Any = None
LEAST = positions._LEAST_LANES


def test_positions_come_first_where_there_is_much_besides() -> None:
    assert positions._LEAST_CODE == 32
    for whole, place, wanted in ((72, 20, True), (71, 20, False), (33, 0, True), (32, 0, False)):
        assert (first(whole, place).begin(NOTHING, TRIANGLES, LEAST) is not None) is wanted
    assert first(effects=True).begin(NOTHING, TRIANGLES, LEAST) is None
    assert first().begin(NOTHING, TRIANGLES, LEAST - 1) is None
    for mode in (Primitive.LINES, Primitive.POINTS, Primitive.PATCHES):
        assert first().begin(NOTHING, mode, LEAST) is None
    found = first().begin(NOTHING, TRIANGLES, LEAST)
    assert found is not None
    program: Any = found[0]
    assert program == ("bound", 10)
    assert (found[1].lanes, found[1].shaded) == (LEAST, 0)


def test_positions_come_first_again_after_some_draws() -> None:
    """When most vertices of a draw were shaded after all."""
    mine = first()
    for shaded, again in ((7 * LEAST, True), (7 * LEAST + 1, False)):
        found = mine.begin(NOTHING, TRIANGLES, 10 * LEAST)
        assert found is not None
        found[1].shaded = shaded
        assert (mine.begin(NOTHING, TRIANGLES, 10 * LEAST) is not None) is again
    tried = [mine.begin(NOTHING, TRIANGLES, LEAST) is not None for _ in range(32)]
    assert tried == [False] * 31 + [True]


def test_shaded_vertices_are_counted() -> None:
    few = FewVertices(100)
    shade = few.shading(lambda which: which)
    assert shade(np.arange(7)).tolist() == list(range(7)) and few.shaded == 7
    assert shade(None) is None and few.shaded == 107


# -- framebuffers ----------------------------------------------------------------------------------


class _Picture:
    """Told by identity."""


def picture() -> Any:
    return _Picture()


def target(color: Any, depth: Any = None) -> FramebufferState:
    surface = Surface(color, FORMATS["R8G8B8A8_UNORM"])
    below = None if depth is None else Surface(depth, FORMATS["Z24X8_UNORM"])
    return FramebufferState(8, 8, cbufs=(None, surface), zsbuf=below)


def drawing(framebuffer: FramebufferState, *sampled: Any) -> Any:
    found = SimpleNamespace(target=framebuffer, targets=reaching.targets_of(framebuffer))
    found.sampled = frozenset(map(id, sampled))
    found.like = found
    return found


def test_framebuffers_that_neither_see_nor_are_seen_wait_together() -> None:
    a, b, c, z = (picture() for _ in range(4))
    targets = Targets()
    assert targets.admits(drawing(target(a), a))
    targets.note(drawing(target(a, z), b))
    assert not targets.several
    assert targets.admits(drawing(target(c)))
    assert targets.admits(drawing(target(a, z), c))
    assert not targets.admits(drawing(target(c, z)))  # the same depths
    assert not targets.admits(drawing(target(c), a))  # sees what waits
    assert not targets.admits(drawing(target(b)))  # is seen
    assert target(a, z) in targets and target(a) not in targets
    for framebuffer, alone in ((target(c), True), (target(b), False), (target(c, z), False)):
        assert targets.leaves_alone(framebuffer) is alone
    same = target(a, z)
    targets.note(drawing(same, c))
    assert not targets.several and not targets.admits(drawing(target(c)))
    assert targets.admits(drawing(same, a))
    targets.clear()
    assert targets.admits(drawing(target(c), a)) and target(a, z) not in targets


def test_who_is_seen_by_draws_elsewhere_waits_no_more() -> None:
    """Even in the framebuffer that was the last."""
    a, b = picture(), picture()
    one, two = target(a), target(b)
    targets = Targets()
    targets.note(drawing(one))
    targets.note(drawing(two))
    assert targets.several
    assert targets.admits(drawing(two)) and targets.admits(drawing(one))
    assert not targets.admits(drawing(two, a))
    assert not targets.admits(drawing(one, b))


def test_draws_are_taken_apart_by_framebuffer_with_their_clears() -> None:
    one, two = target(picture()), target(picture())
    targets = Targets()
    givens = [drawing(one), drawing(two), drawing(one)]
    entries: Any = [(givens[k], DrawInfo(TRIANGLES), b"%d" % n) for n, k in enumerate((0, 1, 2, 1))]
    clears = [
        Clear(after, where, ScissorState(0, 0, 1, 1), ())
        for after, where in ((1, one), (1, two), (3, one), (3, two))
    ]
    targets.note(givens[0])
    assert [*targets.apart(entries, clears)] == [(entries, clears)]
    targets.note(givens[1])
    found = [*targets.apart(entries, clears)]
    assert [[entry[2] for entry in some] for some, _ in found] == [[b"0", b"2"], [b"1", b"3"]]
    assert [[clear.after for clear in some] for _, some in found] == [[1, 2], [0, 1]]
    assert [{id(c.framebuffer) for c in some} for _, some in found] == [{id(one)}, {id(two)}]


# -- states ----------------------------------------------------------------------------------------


def memory() -> Memory:
    return Memory(SimpleNamespace(bound=SimpleNamespace(stages=dict.fromkeys(Stage))))  # type: ignore[arg-type]


def test_numbers_stand_for_one_value_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """When all were forgotten others are given."""
    monkeypatch.setattr(remembering, "_MOST", 3)
    mine = memory()
    assert [mine._number(each) for each in ("a", "b", "a", "c", "b")] == [0, 1, 0, 2, 1]
    assert mine._number("d") == 3
    assert [mine._number(each) for each in ("a", "d", "b")] == [4, 3, 5]


def test_states_are_forgotten_when_many_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "_FEW", 4)
    mine = memory()
    mine._crowded = 4
    mine._kin["related",] = object()  # type: ignore[assignment]

    def state(held: bool, alive: bool) -> Any:
        return SimpleNamespace(held=held, alive=alive)

    mine._found = {(k,): state(k == 0, k == 1) for k in range(3)}
    mine.tidy()
    assert len(mine._found) == 3 and mine._kin  # too few to look at
    mine._found[3,] = state(False, True)
    mine.tidy()
    assert [*mine._found] == [(0,), (1,), (3,)] and not mine._kin
    assert mine._crowded == 6
    mine._kin["related",] = object()  # type: ignore[assignment]
    mine.tidy(3)
    mine._crowded = 0
    mine.tidy(3)
    assert len(mine._found) == 3 and mine._kin
    mine._crowded = 0
    mine.tidy(2)
    assert [*mine._found] == [(0,)] and not mine._kin and mine._crowded == 4
    mine.tidy(0)
    assert [*mine._found] == [(0,)]
    mine._kin["related",] = object()  # type: ignore[assignment]
    mine.clear()
    assert not mine._found and not mine._kin


def test_constants_are_bytes_or_blocks() -> None:
    block = ConstantBuffer(b"abc")
    assert waiting.row_of((block, None)) == (block, None)
    one, other = waiting.row_of(b"xyz")
    assert one is other and one is not None and one.raw == b"xyz"
