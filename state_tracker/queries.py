"""Query objects and conditional rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.enums import QueryType
from gallette.pipe.interface import Handle
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.objects import GLObject, NameTable

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["QueryObject", "QueryState"]

TARGETS: dict[int, QueryType] = {
    GL.SAMPLES_PASSED: QueryType.OCCLUSION_COUNTER,
    GL.ANY_SAMPLES_PASSED: QueryType.OCCLUSION_PREDICATE,
    GL.ANY_SAMPLES_PASSED_CONSERVATIVE: QueryType.OCCLUSION_PREDICATE_CONSERVATIVE,
    GL.PRIMITIVES_GENERATED: QueryType.PRIMITIVES_GENERATED,
    GL.TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN: QueryType.PRIMITIVES_EMITTED,
    GL.TIME_ELAPSED: QueryType.TIME_ELAPSED,
    GL.TIMESTAMP: QueryType.TIMESTAMP,
}
_BOOLEAN = frozenset((GL.ANY_SAMPLES_PASSED, GL.ANY_SAMPLES_PASSED_CONSERVATIVE))
_OCCLUSION = frozenset((GL.SAMPLES_PASSED, *_BOOLEAN))


class QueryObject(GLObject):
    """A query; its pipe query is made when it first begins."""

    kind = "query"

    def __init__(self, name: int, ctx: Context):
        super().__init__(name)
        self.ctx = ctx
        self.target: int = 0
        self.handle: Handle = None
        self.active = False
        self.result: int | None = None

    def begin(self, target: int) -> None:
        self.prepare(target)
        self.ctx.pipe.begin_query(self.handle)
        self.active, self.result = True, None

    def prepare(self, target: int) -> None:
        self.destroy()
        self.target = target
        self.handle = self.ctx.pipe.create_query(TARGETS[target])

    def end(self) -> None:
        self.ctx.pipe.end_query(self.handle)
        self.active = False

    def value(self, wait: bool) -> int | None:
        if self.result is None and self.handle is not None:
            found = self.ctx.pipe.get_query_result(self.handle, wait)
            if found is not None:
                assert isinstance(found, int)
                self.result = int(found != 0) if self.target in _BOOLEAN else int(found)
        return self.result

    def destroy(self) -> None:
        if self.handle is not None:
            if self.active:
                self.end()
            self.ctx.pipe.destroy_query(self.handle)
            self.handle = None


class QueryState:
    """Query names and the active query of every target."""

    def __init__(self) -> None:
        self.names: NameTable[QueryObject] = NameTable("query")
        self.active: dict[int, QueryObject] = {}
        self.condition: QueryObject | None = None

    def release_all(self) -> None:
        self.active.clear()
        self.names.clear()


@entry
def gen_queries(ctx: Context, n: int) -> list[int]:
    return ctx.queries.names.generate(n)


@entry
def create_queries(ctx: Context, target: int, n: int) -> list[int]:
    if target not in TARGETS:
        raise invalid_enum(target, "query target")
    names = ctx.queries.names.generate(n)
    for name in names:
        ctx.queries.names.bind(name, lambda k: QueryObject(k, ctx), True).target = target
    return names


@entry
def is_query(ctx: Context, id: int) -> int:
    return int(ctx.queries.names.get(id) is not None)


@entry
def delete_queries(ctx: Context, n: int, ids: Pointer) -> None:
    if n < 0:
        raise invalid_value("a negative number of queries")
    state = ctx.queries
    for name in read_array(ids, "uint", n):
        found = state.names.pop(int(name))
        if found is None:
            continue
        for target, query in list(state.active.items()):
            if query is found:
                del state.active[target]
        found.release()


def _check_target(target: int, index: int = 0) -> None:
    if target not in TARGETS or target == GL.TIMESTAMP:
        raise invalid_enum(target, "query target")
    if index:
        raise invalid_value("there is one vertex stream")


@entry
def begin_query(ctx: Context, target: int, id: int) -> None:
    _check_target(target)
    state = ctx.queries
    if target in state.active or (target in _OCCLUSION and _OCCLUSION & state.active.keys()):
        raise invalid_operation("a query of this target is active")
    if id == 0 or (not state.names.is_reserved(id)):
        raise invalid_operation(f"{id} was not generated as the name of a query")
    query = state.names.bind(id, lambda n: QueryObject(n, ctx), True)
    if query.active or (query.target and query.target != target):
        raise invalid_operation("the query is active or of another target")
    query.begin(target)
    state.active[target] = query


@entry
def end_query(ctx: Context, target: int) -> None:
    _check_target(target)
    query = ctx.queries.active.pop(target, None)
    if query is None:
        raise invalid_operation("no query of this target is active")
    query.end()


@entry
def begin_query_indexed(ctx: Context, target: int, index: int, id: int) -> None:
    _check_target(target, index)
    begin_query(ctx, target, id)


@entry
def end_query_indexed(ctx: Context, target: int, index: int) -> None:
    _check_target(target, index)
    end_query(ctx, target)


@entry
def query_counter(ctx: Context, id: int, target: int) -> None:
    if target != GL.TIMESTAMP:
        raise invalid_enum(target, "query counter")
    state = ctx.queries
    if not state.names.is_reserved(id):
        raise invalid_operation(f"{id} was not generated as the name of a query")
    query = state.names.bind(id, lambda n: QueryObject(n, ctx), True)
    if query.active or query.target not in (0, GL.TIMESTAMP):
        raise invalid_operation("the query is active or of another target")
    query.prepare(target)
    query.result = None
    ctx.pipe.end_query(query.handle)


@entry
def get_queryiv(ctx: Context, target: int, pname: int) -> list[int]:
    if target not in TARGETS:
        raise invalid_enum(target, "query target")
    if pname == GL.CURRENT_QUERY:
        active = ctx.queries.active.get(target)
        return [active.name if active is not None else 0]
    if pname == GL.QUERY_COUNTER_BITS:
        return [1 if target in _BOOLEAN else 64]
    raise invalid_enum(pname, "query parameter")


def _object_value(ctx: Context, id: int, pname: int) -> list[int]:
    query = ctx.queries.names.get(id)
    if query is None or query.active:
        raise invalid_operation(f"{id} is not the name of a finished query")
    if pname == GL.QUERY_RESULT_AVAILABLE:
        return [int(query.handle is None or query.value(False) is not None)]
    if pname == GL.QUERY_RESULT:
        return [query.value(True) or 0]
    if pname == GL.QUERY_RESULT_NO_WAIT:
        return [query.value(False) or 0]
    if pname == GL.QUERY_TARGET:
        return [query.target]
    raise invalid_enum(pname, "query object parameter")


for _suffix, _limit in (
    ("iv", 2**31 - 1),
    ("uiv", 2**32 - 1),
    ("i64v", 2**63 - 1),
    ("ui64v", 2**64 - 1),
):

    def _typed(ctx: Context, id: int, pname: int, limit: int = _limit) -> list[int]:
        return [min(v, limit) for v in _object_value(ctx, id, pname)]

    register(f"get_query_object{_suffix}", _typed)


@entry
def begin_conditional_render(ctx: Context, id: int, mode: int) -> None:
    inverted = (
        GL.QUERY_WAIT_INVERTED,
        GL.QUERY_NO_WAIT_INVERTED,
        GL.QUERY_BY_REGION_WAIT_INVERTED,
        GL.QUERY_BY_REGION_NO_WAIT_INVERTED,
    )
    plain = (
        GL.QUERY_WAIT,
        GL.QUERY_NO_WAIT,
        GL.QUERY_BY_REGION_WAIT,
        GL.QUERY_BY_REGION_NO_WAIT,
    )
    query = ctx.queries.names.get(id)
    if query is None:
        raise invalid_value(f"{id} is not the name of a query")
    if mode not in inverted and mode not in plain:
        raise invalid_enum(mode, "conditional render mode")
    if ctx.queries.condition is not None or query.active or query.target not in _OCCLUSION:
        raise invalid_operation("this query cannot decide about rendering now")
    ctx.queries.condition = query
    ctx.pipe.render_condition(query.handle, mode in inverted, True)


@entry
def end_conditional_render(ctx: Context) -> None:
    if ctx.queries.condition is None:
        raise invalid_operation("conditional rendering is not active")
    ctx.queries.condition = None
    ctx.pipe.render_condition(None, False, False)


gets({"TIMESTAMP": lambda c: c.screen.get_timestamp()})
