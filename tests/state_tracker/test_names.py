"""Names of objects of every kind: reserved, in existence, deleted, and what is bound then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context


@dataclass(frozen=True)
class Kind:
    """How objects of one kind are made and looked at; `binding` is "" where none can be asked."""

    name: str
    bind: Callable[[Any, int], Any]
    binding: str
    exists_at_once: bool = False  # a name that was generated is an object already
    creates: tuple[Any, ...] = ()  # the first arguments of glCreate*

    def ask(self, gl: Any, name: int) -> bool:
        return bool(getattr(gl, f"is_{self.name}")(name))


def _query(gl: Any, name: int) -> None:
    gl.begin_query(GL.SAMPLES_PASSED, name)
    gl.end_query(GL.SAMPLES_PASSED)


KINDS = [
    Kind("buffer", lambda gl, n: gl.bind_buffer(GL.ARRAY_BUFFER, n), "ARRAY_BUFFER_BINDING"),
    Kind("vertex_array", lambda gl, n: gl.bind_vertex_array(n), "VERTEX_ARRAY_BINDING"),
    Kind(
        "texture",
        lambda gl, n: gl.bind_texture(GL.TEXTURE_3D, n),
        "TEXTURE_BINDING_3D",
        creates=(GL.TEXTURE_3D,),
    ),
    Kind("sampler", lambda gl, n: gl.bind_sampler(0, n), "SAMPLER_BINDING", exists_at_once=True),
    Kind(
        "renderbuffer",
        lambda gl, n: gl.bind_renderbuffer(GL.RENDERBUFFER, n),
        "RENDERBUFFER_BINDING",
    ),
    Kind(
        "framebuffer",
        lambda gl, n: gl.bind_framebuffer(GL.READ_FRAMEBUFFER, n),
        "READ_FRAMEBUFFER_BINDING",
    ),
    Kind(
        "transform_feedback",
        lambda gl, n: gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, n),
        "TRANSFORM_FEEDBACK_BINDING",
    ),
    Kind(
        "program_pipeline",
        lambda gl, n: gl.bind_program_pipeline(n),
        "PROGRAM_PIPELINE_BINDING",
    ),
    Kind("query", _query, "", creates=(GL.SAMPLES_PASSED,)),
]


def plural(kind: Kind) -> str:
    return "queries" if kind.name == "query" else f"{kind.name}s"


@pytest.fixture(params=["numpipe", pytest.param("native", marks=pytest.mark.native)])
def gl(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "native":
        context = native_context(profile="compat", version=(4, 5), size=(8, 8))
    else:
        context = create_context(request.param, profile="compat", version=(4, 5), size=(8, 8))
    yield context
    context.release()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_name_is_reserved_an_object_and_free_again(kind: Kind, gl: Any) -> None:
    assert not kind.ask(gl, 0)
    first, second = getattr(gl, f"gen_{plural(kind)}")(2)
    assert 0 < first != second > 0
    assert not kind.ask(gl, max(first, second) + 1)
    assert kind.ask(gl, first) == kind.ask(gl, second) == kind.exists_at_once
    kind.bind(gl, first)
    assert kind.ask(gl, first) and kind.ask(gl, second) == kind.exists_at_once
    if kind.binding:
        assert gl.get_integerv(getattr(GL, kind.binding))[0] == first
        kind.bind(gl, 0)
        assert kind.ask(gl, first)
        kind.bind(gl, first)
    getattr(gl, f"delete_{plural(kind)}")(3, [0, first, second])
    assert not kind.ask(gl, first) and not kind.ask(gl, second)
    if kind.binding:
        assert gl.get_integerv(getattr(GL, kind.binding))[0] == 0
    getattr(gl, f"delete_{plural(kind)}")(2, [first, first])  # what is none is passed over
    assert gl.get_error() == 0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_created_exists_at_once(kind: Kind, gl: Any) -> None:
    create = getattr(gl, f"create_{plural(kind)}")
    names = create(*kind.creates, 3)
    assert len(set(names)) == 3 and all(kind.ask(gl, name) for name in names)
    getattr(gl, f"delete_{plural(kind)}")(1, [names[1]])
    assert [kind.ask(gl, name) for name in names] == [True, False, True]
    assert gl.get_error() == 0


def test_shaders_programs_lists_and_arb_programs(gl: Any) -> None:
    shader, program = gl.create_shader(GL.VERTEX_SHADER), gl.create_program()
    assert gl.is_shader(shader) and not gl.is_shader(program) and not gl.is_shader(0)
    assert gl.is_program(program) and not gl.is_program(shader) and not gl.is_program(0)
    gl.attach_shader(program, shader)
    gl.delete_shader(shader)
    assert gl.is_shader(shader) and gl.get_shaderiv(shader, GL.DELETE_STATUS)[0]
    gl.delete_program(program)
    assert not gl.is_program(program) and not gl.is_shader(shader)
    (assembly,) = gl.gen_programs_arb(1)
    assert not gl.is_program_arb(assembly) and not gl.is_program_arb(0)
    gl.bind_program_arb(GL.VERTEX_PROGRAM_ARB, assembly)
    assert gl.is_program_arb(assembly)
    gl.delete_programs_arb(1, [assembly])
    assert not gl.is_program_arb(assembly)
    first = gl.gen_lists(3)
    assert [bool(gl.is_list(first + i)) for i in range(-1, 4)] == [False, True, True, True, False]
    gl.delete_lists(first + 1, 1)
    assert [bool(gl.is_list(first + i)) for i in range(3)] == [True, False, True]
    fence = gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)
    assert gl.is_sync(fence) and not gl.is_sync(0)
    gl.delete_sync(fence)
    assert not gl.is_sync(fence)
    assert gl.get_error() == 0
