"""What every driver that puts work off relies on: it is told before anything changes, and after.

`BindingContext` and `MemoryContext` tell a driver through hooks. Every method of the pipe interface
stands in one of three tables: it binds something (then the driver hears of it while the old is
still bound, and what was derived from the old is dropped once the new is), it looks at memory or
counters (then work that waits is done first), or it does neither, with the reason. A method nobody
put into a table fails here, and so does one that forgets to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.bound import Cso
from gallette.drivers.common.memory.context import MemoryContext
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.memory.screen import MemoryScreen
from gallette.pipe.caps import Caps
from gallette.pipe.derived_methods import calls
from gallette.pipe.enums import ClearFlags, MapFlags, QueryType, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.interface import Context, Handle, Screen
from gallette.pipe.resource import ResourceDesc
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    ComputeInfo,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    ImageView,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    ShaderBuffer,
    StreamOutputInfo,
    StreamOutputTarget,
    Surface,
    VertexBuffer,
    VertexElement,
    ViewportState,
)

RGBA8, BYTE, DEPTH = (FORMATS[n] for n in ("R8G8B8A8_UNORM", "R8_UINT", "Z24_UNORM_S8_UINT"))
FRAGMENT, VERTEX = Stage.FRAGMENT, Stage.VERTEX


def bound_now(context: MemoryContext) -> list[Any]:
    """Everything that is bound, to compare; not the numbers that say it changed."""
    bound, seen = context.bound, []
    for name in bound.__slots__:
        value = getattr(bound, name)
        if name not in ("stages", "revision", "epoch", "counting_samples"):
            seen.append((name, dict(value) if isinstance(value, dict) else value))
    for stage, bindings in bound.stages.items():
        for name in ("samplers", "views", "images", "buffers"):
            seen.append((stage, name, list(getattr(bindings, name))))
        blocks = [b and (bytes(b.data), b.buffer, b.offset) for b in bindings.constants]
        seen.append((stage, "constants", blocks))
    return seen


class Deferring(MemoryContext):
    """Puts work off, and writes down what it is told and what was bound then."""

    def __init__(self, screen: Screen) -> None:
        self.told: list[tuple[Any, list[Any]]] = []
        self.waiting: list[Callable[[], None]] = []
        super().__init__(screen)

    def execute_deferred(self) -> None:
        self.told.append(("execute_deferred", bound_now(self)))
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            try:
                work()
            except GalletteError as error:
                self.deferred_failure(error)

    def rebound(self) -> None:
        self.told.append(("rebound", bound_now(self)))

    def stage_rebound(self, stage: Stage) -> None:
        self.told.append((stage, bound_now(self)))

    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> Handle:
        raise NotImplementedError

    def draw_vbo(self, info: DrawInfo) -> None:
        raise NotImplementedError


class _Screen(MemoryScreen):
    def context_create(self) -> Context:
        raise NotImplementedError


class Choosy(Deferring):
    """One that tells changes of bindings from changes of memory, as a queue of draws does."""

    def changing(self) -> None:
        self.told.append(("changing", bound_now(self)))

    def retargeting(self) -> None:
        self.told.append(("retargeting", bound_now(self)))


class _Code:
    """A shader's handle."""

    name = "code"

    def destroy(self) -> None:
        self.name = "gone"


class World:
    """A context and what calls are made with."""

    def __init__(self, kind: type[Deferring] = Deferring) -> None:
        self.screen = _Screen(Caps())
        self.context = kind(self.screen)
        texture = ResourceDesc(Target.TEXTURE_2D, RGBA8, 4, 4, last_level=2)
        depth = ResourceDesc(Target.TEXTURE_2D, DEPTH, 4, 4)
        buffer = ResourceDesc(Target.BUFFER, BYTE, 64)
        made = [self.screen.resource_create(d) for d in (texture, texture, depth, buffer, buffer)]
        self.resources: list[HostResource] = [r for r in made if isinstance(r, HostResource)]
        self.texture, self.other, self.depth, self.buffer, self.second = self.resources
        for number, resource in enumerate(self.resources):
            for level in resource.storage:
                level[...] = np.arange(level.size, dtype=np.uint8).reshape(level.shape) + number
        self.surface = Surface(self.texture, RGBA8)
        self.query = self.context.create_query(QueryType.OCCLUSION_COUNTER)
        self.codes = [_Code(), _Code()]
        self.framebuffer = FramebufferState(4, 4, cbufs=(self.surface,))

    def end(self) -> None:
        """Nothing bound holds a reference any more."""
        for code in self.codes:
            if code in self.context.shaders:
                self.context.delete_shader_state(code)
        self.context.destroy()
        for resource in self.resources:
            assert resource.refcount == 1, resource
            resource.unref()
        assert not self.screen.resources.live


# -- what binds ------------------------------------------------------------------------------------

Arguments = tuple[Any, ...]
ALL = tuple(Stage)


def bindings(w: World) -> dict[str, tuple[Arguments, Arguments, tuple[Any, ...], str]]:
    """Method -> (arguments, others, who drops what it derived, which numbers grow).

    The numbers: (r)evision, (e)poch, the (s)tage's revision.
    """
    c = w.context
    a, b = (ViewportState((n, n, 1.0)) for n in (2.0, 3.0))
    cube = SamplerView(w.texture, RGBA8, Target.TEXTURE_2D)
    front = DepthStencilAlphaState(alpha_enabled=True), DepthStencilAlphaState(depth_enabled=True)
    stage = (FRAGMENT,)
    return {
        "bind_blend_state": ((Cso(BlendState()),), (Cso(BlendState()),), ("rebound",), ""),
        "bind_rasterizer_state": (
            (Cso(RasterizerState()),),
            (c.create_rasterizer_state(RasterizerState(flatshade=True)),),
            ("rebound",),
            "",
        ),
        "bind_depth_stencil_alpha_state": (
            (Cso(front[0]),),
            (Cso(front[1]),),
            ("rebound", FRAGMENT),
            "",
        ),
        "bind_vertex_elements_state": (
            (None,),
            (c.create_vertex_elements_state((VertexElement(0, 0, RGBA8),)),),
            ("rebound",),
            "",
        ),
        "bind_sampler_states": (
            (FRAGMENT, 1, [Cso(SamplerState())]),
            (FRAGMENT, 1, [Cso(SamplerState())]),
            (FRAGMENT, "rebound"),
            "s",
        ),
        "bind_shader_state": ((VERTEX, w.codes[0]), (VERTEX, w.codes[1]), ("rebound",), "r"),
        "set_framebuffer_state": (
            (w.framebuffer,),
            (FramebufferState(4, 4, cbufs=(None, Surface(w.other, RGBA8))),),
            ("rebound",),
            "r",
        ),
        "set_viewport_states": ((0, [a]), (0, [b]), ("rebound",), "r"),
        "set_scissor_states": (
            (0, [ScissorState(0, 0, 2, 2)]),
            (1, [ScissorState(0, 0, 3, 3)]),
            ("rebound",),
            "r",
        ),
        "set_blend_color": (((0.5,) * 4,), ((0.25,) * 4,), ("rebound",), "r"),
        "set_stencil_ref": ((1, 2), (1, 3), ("rebound",), "r"),
        "set_sample_mask": ((3,), (5,), ("rebound",), "r"),
        "set_min_samples": ((2,), (4,), ("rebound",), "r"),
        "set_sample_locations": (([(0.5, 0.5)],), ([(0.25, 0.5)],), ("rebound",), "r"),
        "set_clip_planes": (([(1.0, 0.0, 0.0, 1.0)],), ([(0.0, 1.0, 0.0, 1.0)],), ALL, "re"),
        "set_polygon_stipple": (((1,) * 32,), ((2,) * 32,), ("rebound",), "re"),
        "set_constant_buffer": (
            (FRAGMENT, 1, None, w.buffer, 0, 16),
            (FRAGMENT, 1, None, w.second, 16, 16),
            stage,
            "s",
        ),
        "set_sampler_views": (
            (FRAGMENT, 0, [cube, None]),
            (FRAGMENT, 1, [SamplerView(w.other, RGBA8, Target.TEXTURE_2D)]),
            stage,
            "s",
        ),
        "set_shader_images": (
            (FRAGMENT, 0, [ImageView(w.texture, RGBA8)]),
            (FRAGMENT, 0, [ImageView(w.other, RGBA8)]),
            stage,
            "es",
        ),
        "set_shader_buffers": (
            (FRAGMENT, 0, [ShaderBuffer(w.buffer, 0, 16)]),
            (FRAGMENT, 1, [ShaderBuffer(w.second, 0, 16)]),
            stage,
            "es",
        ),
        "set_vertex_buffers": (
            ([VertexBuffer(w.buffer)],),
            ([None, VertexBuffer(w.second)],),
            (),
            "",
        ),
        "set_stream_output_targets": (
            ([StreamOutputTarget(w.buffer, 0, 16)],),
            ([StreamOutputTarget(w.second, 0, 16)],),
            (),
            "re",
        ),
    }


BINDING = list(bindings(World()))
ALWAYS_TELLS = ("set_constant_buffer", "set_shader_images", "set_shader_buffers")
ALWAYS_TELLS += ("set_stream_output_targets",)
"""what is bound through these may have been written to since"""


def numbers(context: MemoryContext) -> tuple[int, int, int]:
    stages = context.bound.stages.values()
    return context.bound.revision, context.bound.epoch, sum(s.revision for s in stages)


@pytest.mark.parametrize("kind", [Deferring, Choosy])
@pytest.mark.parametrize("name", BINDING)
def test_a_driver_with_deferred_work_is_notified_before_and_after_a_binding_changes(
    name: str, kind: type[Deferring]
) -> None:
    w = World(kind)
    c = w.context
    c.shaders.update(w.codes)
    first, second, stale, grow = bindings(w)[name]
    method = getattr(c, name)
    method(*first)
    c.told.clear()
    before, counted = bound_now(c), numbers(c)
    method(*second)
    after = bound_now(c)
    assert before != after
    heard = [
        seen for what, seen in c.told if what in ("execute_deferred", "changing", "retargeting")
    ]
    assert heard and heard[0] == before, "nobody was told in time"
    if kind is Deferring:
        assert c.told[0][0] == "execute_deferred"
    dropped = {what for what, seen in c.told if seen == after and isinstance(what, str | Stage)}
    assert set(stale) <= dropped, "something stale is kept"
    grown = "".join(
        letter for letter, a, b in zip("res", counted, numbers(c), strict=True) if b > a
    )
    assert grown == grow
    c.told.clear()
    method(*second)
    assert bool(c.told) == (name in ALWAYS_TELLS)
    w.end()


def test_block_0_of_a_draw_of_its_own_is_the_drivers_business() -> None:
    """The uniforms of GL: the one thing that changes before every draw."""
    w = World(Choosy)
    c = w.context
    c.set_constant_buffer(VERTEX, 0, b"old.")
    c.set_constant_buffer(FRAGMENT, 0, b"old.")
    counted = numbers(c)
    c.told.clear()
    block = b"new."
    for stage in (VERTEX, FRAGMENT):
        c.set_constant_buffer(stage, 0, block)
    assert [what for what, _ in c.told] == ["changing", VERTEX, "changing", FRAGMENT]
    one, other = (c.bound.stages[s].constants[0] for s in (VERTEX, FRAGMENT))
    assert one is other and one is not None and one.raw == block
    assert numbers(c) == counted
    c.set_constant_buffer(VERTEX, 0, None, w.buffer, 4, 8)  # a buffer: another matter
    (bound,) = c.bound.stages[VERTEX].constants
    assert bound is not None and bytes(bound.data) == w.buffer.storage[0].tobytes()[4:12]
    assert numbers(c)[1:] == (counted[1] + 1, counted[2] + 1)
    w.end()


def test_slots_that_are_not_named_stay_as_they_were() -> None:
    w = World()
    c = w.context
    one, two, three = (ViewportState((n, n, n)) for n in (1.0, 2.0, 3.0))
    c.set_viewport_states(0, [two])
    c.set_viewport_states(2, [three])
    assert c.bound.viewports == (two, two, three)
    c.set_viewport_states(1, [one])
    assert c.bound.viewports == (two, one, three)
    views = [SamplerView(t, RGBA8, Target.TEXTURE_2D) for t in (w.texture, w.other)]
    c.set_sampler_views(FRAGMENT, 0, views)
    c.set_sampler_views(FRAGMENT, 1, [None])
    assert c.bound.stages[FRAGMENT].views == [views[0], None]
    assert (w.texture.refcount, w.other.refcount) == (2, 1)
    handles = [c.create_sampler_state(SamplerState(max_lod=n)) for n in (1.0, 2.0)]
    c.bind_sampler_states(FRAGMENT, 0, handles)
    c.bind_sampler_states(FRAGMENT, 2, handles[:1])
    assert c.bound.stages[FRAGMENT].samplers == [*handles, handles[0]]
    w.end()


def test_capturing_from_the_beginning_or_where_it_stopped() -> None:
    w = World()
    target = StreamOutputTarget(w.buffer, 0, 64, written=12)
    w.context.set_stream_output_targets([target], append=True)
    assert target.written == 12
    w.context.set_stream_output_targets([target])
    assert target.written == 0
    w.end()


# -- what looks ------------------------------------------------------------------------------------


def _mapped(c: MemoryContext, resource: HostResource) -> bytes:
    transfer = c.transfer_map(resource, 1, MapFlags.READ, Box(0, 0, 0, 2, 2, 1))
    seen = transfer.data.tobytes()
    c.transfer_unmap(transfer)
    return seen


def _written(c: MemoryContext, resource: HostResource) -> None:
    transfer = c.transfer_map(resource, 0, MapFlags.WRITE, Box(1, 1, 0, 2, 2, 1))
    transfer.data[...] = 7
    c.transfer_unmap(transfer)


def _begun(w: World) -> None:
    w.context.begin_query(w.query)


LOOKING: dict[str, Callable[[World], Any]] = {
    "clear": lambda w: w.context.clear(ClearFlags.COLOR0, (0.0, 1.0, 0.0, 1.0), 1.0, 0),
    "clear_render_target": lambda w: w.context.clear_render_target(
        w.surface, (1.0, 0.0, 0.0, 1.0), ScissorState(1, 1, 3, 3)
    ),
    "clear_depth_stencil": lambda w: w.context.clear_depth_stencil(
        Surface(w.depth, DEPTH), ClearFlags.DEPTH, 0.5, 0, ScissorState(0, 0, 2, 4)
    ),
    "blit": lambda w: w.context.blit(
        BlitInfo(
            *(w.other, 0, Box(0, 0, 0, 2, 2, 1), RGBA8, w.texture, 0, Box(1, 1, 0, 2, 2, 1), RGBA8)
        )
    ),
    "resource_copy_region": lambda w: w.context.resource_copy_region(
        w.second, 0, 8, 0, 0, w.buffer, 0, Box(0, 0, 0, 16, 1, 1)
    ),
    "generate_mipmap": lambda w: w.context.generate_mipmap(w.texture, RGBA8, 0, 2, 0, 0),
    "transfer_map": lambda w: (_mapped(w.context, w.texture), _written(w.context, w.other)),
    "transfer_unmap": lambda w: _written(w.context, w.texture),
    "buffer_subdata": lambda w: w.context.buffer_subdata(w.buffer, 4, b"some bytes"),
    "buffer_read": lambda w: w.context.buffer_read(w.buffer, 4, 16),
    "begin_query": _begun,
    "end_query": lambda w: w.context.end_query(w.query),
    "get_query_result": lambda w: w.context.get_query_result(w.query, True),
    "destroy_query": lambda w: w.context.destroy_query(w.query),
    "render_condition": lambda w: w.context.render_condition(
        w.context.create_query(QueryType.OCCLUSION_COUNTER), False, True
    ),
    "flush": lambda w: w.context.flush().wait(0),
    "memory_barrier": lambda w: w.context.memory_barrier(),
    "delete_shader_state": lambda w: w.context.delete_shader_state(w.codes[0]),
}
RUNNING = ("end_query", "get_query_result", "destroy_query")
"""the query is begun before these"""
NEITHER = {
    "create": "a new thing nobody uses yet",
    "delete": "a state object that is not bound any more",
    "invalidate_resource": "keeps what there is",
    "explain": "is about code",
    "set_failure_callback": "is about errors",
    "draw_vbo": "a driver's own",
    "prepared_draw": "a driver's own",
    "prepared_call": "a driver's own",
    "draw_series": "a driver's own",
    "launch_grid": "a driver's own",
    "destroy": "has its own test",
}


def test_every_method_of_the_interface_is_in_a_table() -> None:
    known = {*LOOKING, *BINDING}
    left = [
        name
        for name, call in calls(Context).items()
        if name not in known and name not in NEITHER and call.verb not in NEITHER
    ]
    assert left == []


def memory(w: World) -> list[bytes]:
    return [level.tobytes() for resource in w.resources for level in resource.storage]


def story(name: str, when: str) -> tuple[Any, ...]:
    """What a call answers and leaves behind; work was put off before it, and is done `when`."""
    w = World()
    c = w.context
    c.shaders.update(w.codes)
    c.bind_shader_state(VERTEX, w.codes[0])
    c.set_framebuffer_state(w.framebuffer)
    if name in RUNNING:
        c.begin_query(w.query)

    def work() -> None:
        if not c.skipped:
            c.counters.samples_passed += 3
            for resource in w.resources:
                for level in resource.storage:
                    level ^= np.arange(level.size, dtype=np.uint8).reshape(level.shape) | 1

    if when != "after":
        c.waiting.append(work)
    if when == "before":
        c.execute_deferred()
    answer = LOOKING[name](w)
    assert not c.waiting, "work still waits"
    if when == "after":
        work()
    seen = memory(w)
    if name == "begin_query":
        c.end_query(w.query)
    counted = w.query.result()
    epoch, shader = c.bound.epoch, c.bound.shaders.get(VERTEX)
    w.end()
    return answer, seen, counted, c.bound.counting_samples, epoch, shader is None


@pytest.mark.parametrize("name", LOOKING)
def test_deferred_work_is_executed_before_results_are_read(name: str) -> None:
    assert story(name, "waiting") == story(name, "before")


def test_the_order_of_work_and_reads_is_recorded() -> None:
    same = {name for name in LOOKING if story(name, "after") == story(name, "before")}
    assert same == {"flush", "memory_barrier", "delete_shader_state", "get_query_result"}


@pytest.mark.parametrize("name", LOOKING)
def test_what_is_written_is_known_to_be_written(name: str) -> None:
    """What was derived from a resource is stale when its bytes are others."""
    w = World()
    w.context.shaders.update(w.codes)
    w.context.set_framebuffer_state(w.framebuffer)
    before = [(r.writes, [s.tobytes() for s in r.storage]) for r in w.resources]
    LOOKING[name](w)
    for resource, (writes, held) in zip(w.resources, before, strict=True):
        if [s.tobytes() for s in resource.storage] != held:
            assert resource.writes > writes, resource
    w.end()


def _fails() -> None:
    raise GalletteError("too late")


@pytest.mark.parametrize("name", LOOKING)
def test_a_failure_of_deferred_work_is_reported_once(name: str) -> None:
    reads = ("transfer_map", "transfer_unmap", "buffer_subdata", "buffer_read")
    raises = name in (*reads, "get_query_result", "flush")
    w = World()
    w.context.shaders.update(w.codes)
    w.context.set_framebuffer_state(w.framebuffer)
    w.context.waiting.append(_fails)
    if raises:
        with pytest.raises(GalletteError, match="too late"):
            LOOKING[name](w)
    else:
        LOOKING[name](w)
        with pytest.raises(GalletteError, match="too late"):
            w.context.flush()
    w.context.flush()
    heard: list[Exception] = []
    w.context.set_failure_callback(heard.append)
    w.context.waiting.append(_fails)
    if name not in ("delete_shader_state", "destroy_query"):  # it is gone
        LOOKING[name](w)
        assert [str(e) for e in heard] == ["too late"]
    w.context.waiting.clear()
    w.end()


def test_a_context_that_ends_does_its_work_first() -> None:
    w = World()
    done: list[int] = []
    w.context.waiting.append(lambda: done.append(1))
    w.context.set_framebuffer_state(w.framebuffer)
    w.end()
    assert done == [1]


def test_deleting_a_bound_shader_unbinds_it() -> None:
    w = World()
    c = w.context
    c.shaders.update(w.codes)
    for stage, code in ((VERTEX, w.codes[0]), (FRAGMENT, w.codes[1])):
        c.bind_shader_state(stage, code)
    counted = numbers(c)
    c.told.clear()
    c.delete_shader_state(w.codes[0])
    assert c.bound.shaders == {VERTEX: None, FRAGMENT: w.codes[1]}
    assert [what for what, _ in c.told] == ["execute_deferred", "rebound"]
    assert c.told[0][1] != c.told[1][1] == bound_now(c)
    assert numbers(c)[:2] == (counted[0] + 1, counted[1] + 1)
    assert w.codes[0].name == "gone"
    w.end()


def test_running_occlusion_queries_are_counted() -> None:
    w = World()
    c = w.context
    timer = c.create_query(QueryType.TIME_ELAPSED)

    before = c.bound.epoch

    def counting() -> Iterator[tuple[int, bool]]:
        for step in (c.begin_query, c.end_query):
            for query in (w.query, timer):
                step(query)
                assert c.told[-1][0] == "rebound"
                yield c.bound.counting_samples, c.bound.epoch == before

    # Draws made while samples are counted are not repeated when they are not, and those of before
    # are again.
    assert list(counting()) == [(1, False), (1, False), (0, True), (0, True)]
    epoch = c.bound.epoch
    c.end_query(timer)  # a query that does not run
    assert (c.bound.epoch, c.bound.counting_samples) == (epoch, 0)
    w.end()


def test_no_compute_shaders_is_an_error() -> None:
    w = World()
    with pytest.raises(GalletteError, match="memory has no compute shaders"):
        w.context.launch_grid(ComputeInfo((1, 1, 1), (1, 1, 1)))
    w.end()
