"""Query objects and conditional rendering."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.enums import QueryType
from gallette.pipe.interface import Context as PipeContext
from gallette.pipe.interface import Handle
from gallette.pipe.state import QueryChange
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import (
    buffer_offset,
    write_bytes,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable
from gallette.state_tracker.vertices.buffers import BufferObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

TARGETS: dict[int, QueryType] = {
    GL.SAMPLES_PASSED: QueryType.OCCLUSION_COUNTER,
    GL.ANY_SAMPLES_PASSED: QueryType.OCCLUSION_PREDICATE,
    GL.ANY_SAMPLES_PASSED_CONSERVATIVE: QueryType.OCCLUSION_PREDICATE_CONSERVATIVE,
    GL.PRIMITIVES_GENERATED: QueryType.PRIMITIVES_GENERATED,
    GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN: QueryType.PRIMITIVES_EMITTED,
    GL.TIME_ELAPSED: QueryType.TIME_ELAPSED,
    GL.TIMESTAMP: QueryType.TIMESTAMP,
    GL.TRANSFORM_FEEDBACK_OVERFLOW: QueryType.SO_OVERFLOW_ANY_PREDICATE,
    GL.TRANSFORM_FEEDBACK_STREAM_OVERFLOW: QueryType.SO_OVERFLOW_PREDICATE,
}
# The name of each pipeline statistic in the driver's result.
STATISTICS: dict[int, str] = {
    GL.VERTICES_SUBMITTED: "ia_vertices",
    GL.PRIMITIVES_SUBMITTED: "ia_primitives",
    GL.VERTEX_SHADER_INVOCATIONS: "vs_invocations",
    GL.TESS_CONTROL_SHADER_PATCHES: "hs_invocations",
    GL.TESS_EVALUATION_SHADER_INVOCATIONS: "ds_invocations",
    GL.GEOMETRY_SHADER_INVOCATIONS: "gs_invocations",
    GL.GEOMETRY_SHADER_PRIMITIVES_EMITTED: "gs_primitives",
    GL.FRAGMENT_SHADER_INVOCATIONS: "ps_invocations",
    GL.COMPUTE_SHADER_INVOCATIONS: "cs_invocations",
    GL.CLIPPING_INPUT_PRIMITIVES: "c_invocations",
    GL.CLIPPING_OUTPUT_PRIMITIVES: "c_primitives",
}
TARGETS |= dict.fromkeys(STATISTICS, QueryType.PIPELINE_STATISTICS)
# Targets with a query per vertex stream.
_PER_STREAM = frozenset(
    (
        GL.PRIMITIVES_GENERATED,
        GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
        GL.TRANSFORM_FEEDBACK_STREAM_OVERFLOW,
    )
)
_ES_TARGETS = frozenset(
    (
        GL.ANY_SAMPLES_PASSED,
        GL.ANY_SAMPLES_PASSED_CONSERVATIVE,
        GL.PRIMITIVES_GENERATED,
        GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
        GL.TIME_ELAPSED,
        GL.TIMESTAMP,
    )
)
_OVERFLOW = (GL.TRANSFORM_FEEDBACK_OVERFLOW, GL.TRANSFORM_FEEDBACK_STREAM_OVERFLOW)
_ANY = (GL.ANY_SAMPLES_PASSED, GL.ANY_SAMPLES_PASSED_CONSERVATIVE)
_BOOLEAN = frozenset((*_ANY, *_OVERFLOW))
_OCCLUSION = frozenset((GL.SAMPLES_PASSED, *_ANY))
_PREDICATES = _OCCLUSION | frozenset(_OVERFLOW)


class QueryObject(GLObject):
    """A query; its pipe query is created when it first begins.

    Contexts that share objects use the pipe alternately, and the draws of one do not count for
    another's query: the pipe query ends with each turn, and a new one counts in the next.
    """

    kind = "query"

    def __init__(self, name: int, ctx: Context):
        super().__init__(name)
        self.ctx = ctx
        self.target: int = 0
        self.handle: Handle = None
        self.earlier: list[Handle] = []  # of earlier turns
        self.changes: tuple[QueryChange, QueryChange] | None = None  # begin and end of the handle
        self.index = 0
        self.active = False
        self.result: int | None = None

    def begin(self, target: int, index: int = 0) -> None:
        self.prepare(target, index)
        self._forget_earlier()
        self.ctx.pipe.begin_query(self.handle)
        self.active, self.result = True, None
        self.ctx.queries.active[target, index] = self

    def prepare(self, target: int, index: int = 0) -> None:
        if self.handle is not None and (self.target, self.index) == (target, index):
            return
        self.destroy()
        self.target, self.index = target, index
        self._make()

    def _make(self) -> None:
        self.handle = self.ctx.pipe.create_query(TARGETS[self.target], self.index)
        self.changes = QueryChange(self.handle, True), QueryChange(self.handle, False)

    def _forget_earlier(self) -> None:
        for handle in self.earlier:
            self.ctx.pipe.destroy_query(handle)
        self.earlier.clear()

    def suspend(self) -> None:
        """End the pipe query at the end of its context's turn."""
        self.ctx.pipe.end_query(self.handle)
        self.earlier.append(self.handle)
        self.handle = self.changes = None

    def resume(self) -> None:
        """Begin a new pipe query in the next turn."""
        self._make()
        self.ctx.pipe.begin_query(self.handle)

    def end(self) -> None:
        self.ctx.pipe.end_query(self.handle)
        self.active = False

    def value(self, wait: bool) -> int | None:
        if self.result is None and self.handle is not None:
            found = self._of(self.handle, wait)
            for handle in self.earlier:
                more = self._of(handle, wait)
                found = None if found is None or more is None else found + more
            if found is not None:
                self.result = int(found != 0) if self.target in _BOOLEAN else found
        return self.result

    def _of(self, handle: Handle, wait: bool) -> int | None:
        found = self.ctx.pipe.get_query_result(handle, wait)
        if isinstance(found, dict):
            return found.get(STATISTICS[self.target], 0)
        return None if found is None else int(found)

    def deciding(self) -> Handle:
        """The pipe query for conditional rendering: that of a turn with a nonzero count."""
        return next((handle for handle in self.earlier if self._of(handle, True)), self.handle)

    def destroy(self) -> None:
        if self.handle is not None:
            if self.active:
                self.end()
            self.ctx.pipe.destroy_query(self.handle)
            self.handle = self.changes = None
        self._forget_earlier()


class QueryState:
    """Query names and the active query of every target."""

    def __init__(self, ctx: Context) -> None:
        self.names: NameTable[QueryObject] = NameTable("query")
        self.active: dict[tuple[int, int], QueryObject] = {}  # by target and vertex stream
        self.condition: QueryObject | None = None
        self.inverted = False

    def suspend(self, pipe: PipeContext) -> None:
        """Suspend active queries before another context takes the pipe."""
        for query in self.active.values():
            query.suspend()
        if self.condition is not None:
            pipe.render_condition(None, False, False)

    def resume(self, pipe: PipeContext) -> None:
        """Resume active queries when this context has the pipe again."""
        for query in self.active.values():
            query.resume()
        if self.condition is not None:
            pipe.render_condition(self.condition.deciding(), self.inverted, True)

    def release_all(self) -> None:
        self.active.clear()
        self.names.clear()


def have_changed(ctx: Context, queries: Sequence[QueryObject], begun: bool) -> None:
    """Record that the driver began and ended these queries of samples in order.

    `begun`: the last one has only begun.
    """
    for query in queries:
        query.active, query.result = False, None
    active, place = ctx.queries.active, (GL.SAMPLES_PASSED, 0)
    active.pop(place, None)
    if begun:
        queries[-1].active, active[place] = True, queries[-1]


@entry
def create_queries(ctx: Context, target: int, n: int) -> list[int]:
    _check_known(ctx, target)
    names = ctx.queries.names.create(n, lambda k: QueryObject(k, ctx))
    for name in names:
        ctx.queries.names.require(name).target = target
    return names


def _unbind(ctx: Context, query: QueryObject) -> None:
    active = ctx.queries.active
    for target in [target for target, found in active.items() if found is query]:
        del active[target]


objects("query", lambda ctx: ctx.queries.names, _unbind, plural="queries", label=GL.QUERY)


def _check_known(ctx: Context, target: int, index: int = 0) -> None:
    if index >= (ctx.limits.max_vertex_streams if target in _PER_STREAM else 1):
        raise invalid_value(f"{GL.name_of(target)} has no index {index}")
    if target not in TARGETS or (ctx.profile == "es" and target not in _ES_TARGETS):
        raise invalid_enum(target, "query target")


def _check_target(ctx: Context, target: int, index: int) -> None:
    _check_known(ctx, target, index)
    if target == GL.TIMESTAMP:
        raise invalid_enum(target, "query target")


@entry
def begin_query_indexed(ctx: Context, target: int, index: int, id: int) -> None:
    _check_target(ctx, target, index)
    state = ctx.queries
    busy = (target, index) in state.active
    if target in _OCCLUSION:
        busy = any(of in _OCCLUSION for of, _ in state.active)
    if busy:
        raise invalid_operation("a query of this target is active")
    if id == 0 or (not ctx.is_compat and not state.names.is_reserved(id)):
        raise invalid_operation(f"{id} was not generated as the name of a query")
    query = state.names.bind(id, lambda n: QueryObject(n, ctx), not ctx.is_compat)
    if query.active or (query.target and query.target != target):
        raise invalid_operation("the query is active or of another target")
    query.begin(target, index)


@entry
def end_query_indexed(ctx: Context, target: int, index: int) -> None:
    _check_target(ctx, target, index)
    query = ctx.queries.active.pop((target, index), None)
    if query is None:
        raise invalid_operation("no query of this target is active")
    query.end()


@entry
def begin_query(ctx: Context, target: int, id: int) -> None:
    begin_query_indexed(ctx, target, 0, id)


@entry
def end_query(ctx: Context, target: int) -> None:
    end_query_indexed(ctx, target, 0)


@entry
def query_counter(ctx: Context, id: int, target: int) -> None:
    if target != GL.TIMESTAMP:
        raise invalid_enum(target, "query counter")
    state = ctx.queries
    if not state.names.is_reserved(id):
        raise invalid_operation(f"{id} was not generated as the name of a query")
    query = state.names.bind(id, lambda n: QueryObject(n, ctx), True)
    if query.target not in (0, GL.TIMESTAMP):
        raise invalid_operation("the query is of another target")
    query.prepare(target)
    query.result = None
    ctx.pipe.end_query(query.handle)


@entry
def get_query_indexediv(ctx: Context, target: int, index: int, pname: int) -> list[int]:
    _check_known(ctx, target, index)
    if pname == GL.CURRENT_QUERY:
        active = ctx.queries.active.get((target, index))
        return [active.name if active is not None else 0]
    if pname == GL.QUERY_COUNTER_BITS:
        return [1 if target in _BOOLEAN else 64]
    raise invalid_enum(pname, "query parameter")


@entry
def get_queryiv(ctx: Context, target: int, pname: int) -> list[int]:
    return get_query_indexediv(ctx, target, 0, pname)


def _object_value(ctx: Context, id: int, pname: int) -> list[int]:
    query = ctx.queries.names.get(id)
    if query is None or query.active:
        raise invalid_operation(f"{id} is not the name of a finished query")
    check_es(ctx, pname, "query object parameter")
    if pname == GL.QUERY_RESULT_AVAILABLE:
        return [int(query.handle is None or query.value(False) is not None)]
    if pname == GL.QUERY_RESULT:
        return [query.value(True) or 0]
    if pname == GL.QUERY_RESULT_NO_WAIT:
        found = query.value(False)
        return [] if found is None and query.handle is not None else [found or 0]
    if pname == GL.QUERY_TARGET:
        return [query.target]
    raise invalid_enum(pname, "query object parameter")


_PACKED = {
    suffix: struct.Struct(f"<{code}")
    for suffix, code in (("iv", "i"), ("uiv", "I"), ("i64v", "q"), ("ui64v", "Q"))
}


def _into_buffer(
    ctx: Context, buffer: BufferObject | None, offset: int, values: list[int], limit: int,
    suffix: str,
) -> None:  # fmt: skip
    """Store a result in the query buffer; an unavailable one (GL_QUERY_RESULT_NO_WAIT) is not
    stored.
    """
    assert buffer is not None
    packed = _PACKED[suffix]
    if offset < 0 or offset + packed.size > buffer.size:
        raise invalid_operation("the result would be outside the buffer")
    if buffer.blocked:
        raise invalid_operation("the query buffer is mapped")
    if values:
        buffer.write(offset, np.frombuffer(packed.pack(min(values[0], limit)), np.uint8))


for _suffix, _limit in (
    ("iv", 2**31 - 1),
    ("uiv", 2**32 - 1),
    ("i64v", 2**63 - 1),
    ("ui64v", 2**64 - 1),
):

    def _typed(
        ctx: Context, id: int, pname: int, params: Any, limit: int = _limit, suffix: str = _suffix
    ) -> Any:
        """Store a result in memory, or in the bound query buffer: then the pointer is an offset."""
        buffer = ctx.buffers.bound[GL.QUERY_BUFFER]
        into = buffer is not None and params is not OMITTED
        values = _object_value(ctx, id, pname)
        if into:
            _into_buffer(ctx, buffer, buffer_offset(params), values, limit, suffix)
            return None
        found = [min(v, limit) for v in values]
        if params is OMITTED:
            return found
        if params is not None and found:
            write_bytes(params, _PACKED[suffix].pack(found[0]))
        return None

    def _by_buffer(
        ctx: Context, id: int, buffer: int, pname: int, offset: int, limit: int = _limit,
        suffix: str = _suffix,
    ) -> None:  # fmt: skip
        found = ctx.buffers.names.get(buffer)
        if found is None:
            raise invalid_operation(f"{buffer} is not the name of a buffer")
        if offset < 0:
            raise invalid_value("negative offset")
        _into_buffer(ctx, found, offset, _object_value(ctx, id, pname), limit, suffix)

    _typed.stores_itself = True  # type: ignore[attr-defined]
    register(f"get_query_object{_suffix}", _typed)
    register(f"get_query_buffer_object{_suffix}", _by_buffer)


_CONDITIONS: dict[int, bool] = {
    getattr(GL, f"QUERY_{region}{wait}{inverted}"): bool(inverted)
    for region in ("", "BY_REGION_")
    for wait in ("WAIT", "NO_WAIT")
    for inverted in ("", "_INVERTED")
}
"""The modes of conditional rendering: whether they are inverted."""


@entry
def begin_conditional_render(ctx: Context, id: int, mode: int) -> None:
    query = ctx.queries.names.get(id)
    if query is None:
        raise invalid_value(f"{id} is not the name of a query")
    if mode not in _CONDITIONS:
        raise invalid_enum(mode, "conditional render mode")
    if ctx.queries.condition is not None or query.active or query.target not in _PREDICATES:
        raise invalid_operation("this query cannot decide about rendering now")
    ctx.queries.condition, ctx.queries.inverted = query, _CONDITIONS[mode]
    ctx.pipe.render_condition(query.deciding(), _CONDITIONS[mode], True)


@entry
def end_conditional_render(ctx: Context) -> None:
    if ctx.queries.condition is None:
        raise invalid_operation("conditional rendering is not active")
    ctx.queries.condition = None
    ctx.pipe.render_condition(None, False, False)


gets({"TIMESTAMP": lambda c: c.screen.get_timestamp()})
