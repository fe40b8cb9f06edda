"""Query objects: what every target, index and way to ask is answered, beside the native GL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program, quad

pytestmark = pytest.mark.native

PROFILES = {"core": (4, 5), "compat": (4, 5), "es": (3, 2)}
COUNTED = [
    "VERTICES_SUBMITTED",
    "PRIMITIVES_SUBMITTED",
    "VERTEX_SHADER_INVOCATIONS",
    "TESS_CONTROL_SHADER_PATCHES",
    "TESS_EVALUATION_SHADER_INVOCATIONS",
    "GEOMETRY_SHADER_INVOCATIONS",
    "GEOMETRY_SHADER_PRIMITIVES_EMITTED",
    "FRAGMENT_SHADER_INVOCATIONS",
    "COMPUTE_SHADER_INVOCATIONS",
    "CLIPPING_INPUT_PRIMITIVES",
    "CLIPPING_OUTPUT_PRIMITIVES",
]
TARGETS = [
    "SAMPLES_PASSED",
    "ANY_SAMPLES_PASSED",
    "ANY_SAMPLES_PASSED_CONSERVATIVE",
    "PRIMITIVES_GENERATED",
    "TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN",
    "TIME_ELAPSED",
    "TIMESTAMP",
    "TRANSFORM_FEEDBACK_OVERFLOW",
    "TRANSFORM_FEEDBACK_STREAM_OVERFLOW",
]
NAMES = {int(getattr(GL, name)): name for name in (*TARGETS, *COUNTED)}
WRONG = {GL.NONE: "NONE", GL.TEXTURE_2D: "TEXTURE_2D", GL.QUERY_RESULT: "QUERY_RESULT"}
SUFFIXES = {"iv": np.int32, "uiv": np.uint32, "i64v": np.int64, "ui64v": np.uint64}
OBJECT = (
    *("QUERY_RESULT", "QUERY_RESULT_AVAILABLE", "QUERY_RESULT_NO_WAIT", "QUERY_TARGET"),
    *("CURRENT_QUERY", "QUERY_COUNTER_BITS"),
)
MODES = [
    f"QUERY_{region}{wait}{how}"
    for region, wait, how in product(("", "BY_REGION_"), ("WAIT", "NO_WAIT"), ("", "_INVERTED"))
]
# What is another number everywhere.
OWN_RESULT = ("TIME_ELAPSED", "FRAGMENT_SHADER_INVOCATIONS")


@pytest.fixture(params=PROFILES)
def both(request: pytest.FixtureRequest) -> Iterator[tuple[GLInterface, GLInterface]]:
    """Our context and the native one."""
    options: dict[str, Any] = {"profile": request.param, "size": (8, 8)}
    options["version"] = PROFILES[request.param]
    theirs = native_context(**options)
    ours = create_context("numpipe", **options)
    yield ours, theirs
    ours.release()
    theirs.release()


class Told:
    """Calls of one context, and what each was answered."""

    def __init__(self, gl: GLInterface):
        self.gl = gl
        self.lines: list[str] = []
        gl.make_current()

    def __call__(self, name: str, *arguments: Any, among: tuple[int, ...] = ()) -> Any:
        """Call; an answer that is one of `among` is told by its place there."""
        answer = getattr(self.gl, name)(*arguments)
        said = errors(self.gl)
        found = list(answer) if isinstance(answer, list | tuple) else answer
        if isinstance(found, list) and among:
            found = [among.index(v) if v in among else v for v in found]
        self.lines.append(f"{name} {said if said else found}")
        return answer


def life(gl: GLInterface, target: int, index: int) -> list[str]:
    """A query of a target begins, is asked, ends, is asked, begins again and is deleted."""
    told = Told(gl)
    ids = tuple(gl.gen_queries(3))
    one, two, spare = ids
    told("is_query", one)
    told("begin_query_indexed", target, index, one)
    told("is_query", one)
    told("get_query_indexediv", target, index, GL.CURRENT_QUERY, among=ids)
    told("get_query_indexediv", target, 0, GL.CURRENT_QUERY, among=ids)
    told("begin_query_indexed", target, index, one)
    told("begin_query_indexed", target, index, two)
    told("begin_query_indexed", target, 0 if index else 1, one)
    told("get_query_objectuiv", one, GL.QUERY_RESULT)
    told("end_query_indexed", target, index)
    told("end_query_indexed", target, index)
    told("get_query_indexediv", target, index, GL.CURRENT_QUERY, among=ids)
    told("begin_query", GL.ANY_SAMPLES_PASSED, one)
    told("end_query", GL.ANY_SAMPLES_PASSED)
    told("query_counter", one, GL.TIMESTAMP)
    told("begin_query_indexed", target, index, one)
    told("delete_queries", 1, [one])
    told("is_query", one)
    told("end_query_indexed", target, index)
    told("get_query_indexediv", target, index, GL.CURRENT_QUERY, among=ids)
    told("begin_query_indexed", target, index, 0)
    told("begin_query_indexed", target, index, spare + 77)
    told("end_query_indexed", target, index)
    told("delete_queries", -1, [two])
    told("delete_queries", 0, [two])
    told("delete_queries", 5, [0, two, spare + 78, spare, spare + 77])
    told.lines.append(f"{[gl.is_query(query) for query in (two, spare, spare + 77)]}")
    return told.lines


def made(gl: GLInterface, target: int) -> list[str]:
    """Queries that are of a target from the beginning."""
    told = Told(gl)
    ids = list(gl.create_queries(target, 2))
    if said := errors(gl):
        return [*told.lines, str(said)]
    told.lines.append(f"{[gl.is_query(query) for query in ids]}")
    for query, name in product(ids, OBJECT):
        told("get_query_objectuiv", query, getattr(GL, name))
    for wanted, query in product((target, GL.SAMPLES_PASSED, GL.TIME_ELAPSED), ids):
        told("begin_query", wanted, query)
        told("end_query", wanted)
    for query in ids:
        told("query_counter", query, GL.TIMESTAMP)
    gl.delete_queries(len(ids), ids)
    return told.lines


def test_what_a_query_goes_through(both: tuple[GLInterface, GLInterface]) -> None:
    for target, index in product({**NAMES, **WRONG}, (0, 1, 3, 4)):
        mine, theirs = (life(gl, target, index) for gl in both)
        assert mine == theirs, (GL.name_of(target), index)


def test_which_queries_run_at_once(both: tuple[GLInterface, GLInterface]) -> None:
    for first, second in product(NAMES, NAMES):
        seen = []
        for gl in both:
            told = Told(gl)
            ids = gl.gen_queries(2)
            for target, query in zip((first, second), ids, strict=True):
                told("begin_query", target, query)
            for target in (first, second):
                told("get_queryiv", target, GL.CURRENT_QUERY, among=tuple(ids))
            for target in (first, second):
                told("end_query", target)
            gl.delete_queries(2, ids)
            seen.append(told.lines)
        assert seen[0] == seen[1], (NAMES[first], NAMES[second])


def test_which_queries_take_the_time(both: tuple[GLInterface, GLInterface]) -> None:
    """Nobody's, a new one, one of another target, one that runs, one that has a time already."""
    for target in {**NAMES, **WRONG}:
        seen = []
        for gl in both:
            told = Told(gl)
            new, other, active, taken = gl.gen_queries(4)
            gl.begin_query(GL.ANY_SAMPLES_PASSED, other)
            gl.end_query(GL.ANY_SAMPLES_PASSED)
            gl.begin_query(GL.PRIMITIVES_GENERATED, active)
            gl.query_counter(taken, GL.TIMESTAMP)
            told.lines.append(str(errors(gl)))
            for query in (0, new, other, active, taken):
                told("query_counter", query, target)
                told("is_query", query)
            gl.end_query(GL.PRIMITIVES_GENERATED)
            gl.delete_queries(4, [new, other, active, taken])
            seen.append(told.lines)
        assert seen[0] == seen[1], GL.name_of(target)
    mine = Told(both[0])
    mine("query_counter", 7777, GL.TIMESTAMP)  # Mesa takes names that were not generated, too
    assert mine.lines == ["query_counter ['GL_INVALID_OPERATION']"]


def test_what_is_said_of_targets(both: tuple[GLInterface, GLInterface]) -> None:
    for target, index in product({**NAMES, **WRONG}, (0, 1, 4)):
        seen = []
        for gl in both:
            told = Told(gl)
            for pname in (GL.CURRENT_QUERY, GL.QUERY_COUNTER_BITS, GL.QUERY_RESULT):
                told("get_query_indexediv", target, index, pname)
            if NAMES.get(target) not in COUNTED:  # which Mesa makes only when they begin
                told.lines += made(gl, target)
            seen.append(told.lines)
        assert seen[0] == seen[1], (GL.name_of(target), index)


FS = "#version 320 es\nout lowp vec4 color;\nvoid main() { color = vec4(1.0); }\n"
VS = "#version 320 es\nin vec2 position;\nvoid main() { gl_Position = vec4(position, 0.0, 1.0); }\n"


def scene(gl: GLInterface, room: int) -> None:
    """What draws fifteen pixels of two triangles, and captures as many as there is room for."""
    name = program(gl, VS, FS)
    gl.transform_feedback_varyings(name, 1, ["gl_Position"], GL.INTERLEAVED_ATTRIBS)
    gl.link_program(name)
    gl.use_program(name)
    quad(gl, name)
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, 0, buffer)
    gl.buffer_data(GL.TRANSFORM_FEEDBACK_BUFFER, room * 48, None, GL.STATIC_DRAW)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(1, 2, 5, 3)
    assert errors(gl) == []


def drawn(gl: GLInterface) -> None:
    gl.begin_transform_feedback(GL.TRIANGLES)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.draw_arrays(GL.TRIANGLES, 1, 3)
    gl.end_transform_feedback()


def asked(gl: GLInterface, query: int, without_results: bool = False) -> list[str]:
    """Every question in every type; a result that is nobody else's is only not zero."""
    told = Told(gl)
    for suffix, name in product(SUFFIXES, OBJECT):
        values = told(f"get_query_object{suffix}", query, getattr(GL, name))
        if without_results and name in ("QUERY_RESULT", "QUERY_RESULT_NO_WAIT") and values:
            told.lines[-1] = f"{values[0] > 0}"
    return told.lines


@pytest.mark.parametrize("room", [1, 2])
def test_what_queries_find(both: tuple[GLInterface, GLInterface], room: int) -> None:
    for gl in both:
        gl.make_current()
        scene(gl, room)
    for target, name in NAMES.items():
        seen = []
        for gl in both:
            told = Told(gl)
            (query,) = gl.gen_queries(1)
            seen.append(asked(gl, query))
            told("begin_query", target, query)
            drawn(gl)
            told("end_query", target)
            gl.finish()
            seen.append(told.lines + asked(gl, query, name in OWN_RESULT))
            if target == GL.TIMESTAMP:
                gl.query_counter(query, target)
                seen.append(asked(gl, query, True))
            told = Told(gl)  # the same query once more, where there is nothing to find
            told("begin_query", target, query)
            told("end_query", target)
            gl.finish()
            if name not in OWN_RESULT:
                told("get_query_objectuiv", query, GL.QUERY_RESULT)
            seen.append(told.lines)
            gl.delete_queries(1, [query])
        half = len(seen) // 2
        assert seen[:half] == seen[half:], name


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("both", ["core", "compat"], indirect=True)
def test_what_a_query_decides_about_rendering(
    both: tuple[GLInterface, GLInterface], inside: bool
) -> None:
    for gl in both:
        gl.make_current()
        scene(gl, 1)
    for target, mode in product(NAMES, (*MODES, "NONE", "SAMPLES_PASSED")):
        seen = []
        for gl in both:
            told = Told(gl)
            (query,) = gl.gen_queries(1)
            if target == GL.TIMESTAMP:
                gl.query_counter(query, target)
            else:
                gl.begin_query(target, query)
                told("begin_conditional_render", query, getattr(GL, mode))
            if inside:
                drawn(gl)
            if target != GL.TIMESTAMP:
                gl.end_query(target)
            gl.clear(GL.COLOR_BUFFER_BIT)
            gl.finish()
            for name in (0, query + 77, query, query):
                told("begin_conditional_render", name, getattr(GL, mode))
            gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
            told("end_conditional_render")
            told("end_conditional_render")
            told.lines.append(f"{np.count_nonzero(pixels(gl, 8, 8)[2:5, 1:6, 0])} pixels")
            gl.delete_queries(1, [query])
            seen.append(told.lines)
        assert seen[0] == seen[1], (NAMES[target], mode)


@pytest.mark.parametrize("both", ["core", "compat"], indirect=True)
def test_results_go_into_buffers(both: tuple[GLInterface, GLInterface]) -> None:
    found, made = [], []
    for gl in both:
        gl.make_current()
        scene(gl, 1)
        (query,) = gl.gen_queries(1)
        gl.begin_query(GL.SAMPLES_PASSED, query)
        drawn(gl)
        gl.end_query(GL.SAMPLES_PASSED)
        gl.finish()
        (buffer,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.QUERY_BUFFER, buffer)
        gl.buffer_data(GL.QUERY_BUFFER, 32, np.full(32, 0xAA, np.uint8), GL.STATIC_DRAW)
        made.append((query, buffer))
    for suffix, name, bound in product(SUFFIXES, OBJECT[:4], (True, False)):
        for offset in (-8, -4, 0, 4, 8, 16, 20, 24, 28, 32):
            seen = []
            for gl, (query, buffer) in zip(both, made, strict=True):
                told, pname = Told(gl), getattr(GL, name)
                gl.bind_buffer(GL.QUERY_BUFFER, buffer if bound else 0)
                if bound and offset >= 0:  # else it is nobody's address
                    told(f"get_query_object{suffix}", query, pname, offset)
                told(f"get_query_buffer_object{suffix}", query, buffer, pname, offset)
                held = gl.get_named_buffer_sub_data(buffer, 0, 32)
                told.lines.append(np.frombuffer(held, np.uint8).tobytes().hex())
                gl.named_buffer_sub_data(buffer, 0, 32, np.full(32, 0xAA, np.uint8))
                seen.append(told.lines)
            assert seen[0] == seen[1], (suffix, name, bound, offset)
            found.append(seen[0][-1])
    assert len(set(found)) > 20
    mine, (query, buffer) = Told(both[0]), made[0]
    for offset in (1, 2, 6):  # any offset will do
        mine("get_query_buffer_objectiv", query, buffer, GL.QUERY_RESULT, offset)
        assert mine.lines[-1] == "get_query_buffer_objectiv None"
    for persistent in (True, False):
        seen = []
        for gl, (query, _) in zip(both, made, strict=True):
            told = Told(gl)
            (mapped,) = gl.create_buffers(1)
            gl.named_buffer_storage(mapped, 32, None, GL.MAP_WRITE_BIT | GL.MAP_PERSISTENT_BIT)
            access = GL.MAP_WRITE_BIT | (GL.MAP_PERSISTENT_BIT if persistent else 0)
            gl.map_named_buffer_range(mapped, 0, 32, access)
            gl.bind_buffer(GL.QUERY_BUFFER, mapped)
            told("get_query_objectiv", query, GL.QUERY_RESULT, 0)
            told("get_query_buffer_objectiv", query, mapped, GL.QUERY_RESULT, 0)
            told("get_query_buffer_objectiv", query, mapped + 77, GL.QUERY_RESULT, 0)
            seen.append(told.lines)
        if persistent:
            assert seen[0] == seen[1]
        else:  # Mesa writes into what is mapped (section 6.3.2)
            assert all("INVALID_OPERATION" in line for line in seen[0])


def test_the_drivers_queries_end_as_often_as_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that go on with another stream, or are deleted while they count."""
    gl = create_context("numpipe", version=(4, 5), size=(8, 8))
    gl.make_current()
    told: list[str] = []
    for name in ("create_query", "begin_query", "end_query", "destroy_query"):
        own = getattr(gl.pipe, name)

        def watched(*given: Any, own: Any = own, name: str = name) -> Any:
            told.append(name.removesuffix("_query"))
            return own(*given)

        monkeypatch.setattr(gl.pipe, name, watched)
    one, two, three = gl.gen_queries(3)
    for stream in (0, 1, 1):
        gl.begin_query_indexed(GL.PRIMITIVES_GENERATED, stream, one)
        gl.end_query_indexed(GL.PRIMITIVES_GENERATED, stream)
    again = ["begin", "end"]
    assert told == ["create", *again, "destroy", "create", *again, *again]
    told.clear()
    gl.begin_query(GL.SAMPLES_PASSED, two)
    gl.delete_queries(2, [one, two])
    assert told == ["create", "begin", "destroy", "end", "destroy"]
    told.clear()
    gl.begin_query(GL.SAMPLES_PASSED, three)
    assert gl.get_error() == GL.NO_ERROR
    gl.release()
    assert told == ["create", "begin", "end", "destroy"]


def test_a_later_time_stamp_replaces_the_first() -> None:
    gl = create_context("numpipe", size=(8, 8))
    (query,) = gl.gen_queries(1)
    gl.query_counter(query, GL.TIMESTAMP)
    (first,) = gl.get_query_objectui64v(query, GL.QUERY_RESULT)
    while gl.get_integer64v(GL.TIMESTAMP)[0] <= first:
        pass
    gl.query_counter(query, GL.TIMESTAMP)
    assert gl.get_query_objectui64v(query, GL.QUERY_RESULT)[0] > first
    gl.release()


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_times_are_apart_as_time_stamps_are(driver: str) -> None:
    """What took some time lies between the stamps before and behind it, and waiting takes some."""
    gl = create_context(driver, size=(8, 8))
    queries = gl.gen_queries(3)
    gl.query_counter(queries[0], GL.TIMESTAMP)
    gl.begin_query(GL.TIME_ELAPSED, queries[1])
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.finish()
    time.sleep(0.002)
    gl.end_query(GL.TIME_ELAPSED)
    gl.query_counter(queries[2], GL.TIMESTAMP)
    before, elapsed, behind = (gl.get_query_objectui64v(q, GL.QUERY_RESULT)[0] for q in queries)
    assert 2_000_000 <= elapsed <= behind - before
    gl.release()


def test_only_reading_a_result_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    gl = create_context("numpipe", size=(8, 8))
    gl.make_current()
    waited = []

    def result(_: Any, wait: bool) -> int | None:
        waited.append(wait)
        return 5 if wait else None

    (query,), (buffer,) = gl.gen_queries(1), gl.gen_buffers(1)
    gl.begin_query(GL.SAMPLES_PASSED, query)
    gl.end_query(GL.SAMPLES_PASSED)
    monkeypatch.setattr(gl.pipe, "get_query_result", result)
    gl.bind_buffer(GL.COPY_READ_BUFFER, buffer)
    gl.buffer_data(GL.COPY_READ_BUFFER, 4, np.array([77], np.uint32), GL.STATIC_DRAW)
    memory = np.array([78], np.uint32)
    for pname, found in (
        (GL.QUERY_RESULT_AVAILABLE, [0]),
        (GL.QUERY_RESULT_NO_WAIT, []),
        (GL.QUERY_RESULT, [5]),
        (GL.QUERY_RESULT_AVAILABLE, [1]),
        (GL.QUERY_RESULT_NO_WAIT, [5]),
    ):
        gl.get_query_objectuiv(query, pname, memory.ctypes.data)
        gl.get_query_buffer_objectuiv(query, buffer, pname, 0)
        assert gl.get_query_objectuiv(query, pname) == found
        held = np.frombuffer(gl.get_buffer_sub_data(GL.COPY_READ_BUFFER, 0, 4), np.uint32)
        assert [held[0], memory[0]] == (found * 2 or [0, 0])
    assert waited == [False] * 6 + [True]
    assert errors(gl) == []
    gl.release()


def test_large_results_stay_in_the_type_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gl = create_context("numpipe", size=(8, 8))
    gl.make_current()
    buffer, room = gl.gen_buffers(1)[0], np.zeros(1, np.uint64)
    for bits in (31, 32, 63, 64):
        for value in ((1 << bits) - 1, 1 << bits, (1 << bits) + 1):
            monkeypatch.setattr(gl.pipe, "get_query_result", lambda *_, value=value: value)
            (query,) = gl.gen_queries(1)
            gl.begin_query(GL.SAMPLES_PASSED, query)
            gl.end_query(GL.SAMPLES_PASSED)
            for suffix, kind in SUFFIXES.items():
                limited = min(value, int(np.iinfo(kind).max))
                ask = getattr(gl, f"get_query_object{suffix}")
                assert ask(query, GL.QUERY_RESULT) == [limited], (value, suffix)
                for bound in (0, buffer):
                    room[:] = 0
                    gl.bind_buffer(GL.QUERY_BUFFER, bound)
                    if bound:
                        gl.buffer_data(GL.QUERY_BUFFER, 8, room, GL.STATIC_DRAW)
                    ask(query, GL.QUERY_RESULT, 0 if bound else room.ctypes.data)
                    if bound:
                        gl.get_buffer_sub_data(GL.QUERY_BUFFER, 0, 8, room.ctypes.data)
                    assert room.view(kind)[0] == limited, (value, suffix)
                gl.bind_buffer(GL.QUERY_BUFFER, 0)
                ask(query, GL.QUERY_RESULT, None)
            assert errors(gl) == []
    gl.release()
