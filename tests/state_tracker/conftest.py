"""Contexts for state-tracker tests: the same test runs on our GL and on the machine's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.nir.text.serialize import deserialize, serialize
from gallette.drivers.common.context import HostContext
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context
from tests.state_tracker.anew import Watch

IMPLEMENTATIONS = [
    pytest.param("numpipe", id="numpipe"),
    pytest.param("native", id="native", marks=pytest.mark.native),
]


def _make(request: pytest.FixtureRequest, **options: Any) -> GLInterface:
    if request.param == "native":
        context = native_context(**options)
    else:
        context = create_context(request.param, **options)
    context.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    return context


@pytest.fixture(params=IMPLEMENTATIONS)
def gl(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    """A core 3.3 context with a default framebuffer of 64x64."""
    context = _make(request, profile="core", version=(3, 3), size=(64, 64))
    yield context
    context.release()


@pytest.fixture(params=IMPLEMENTATIONS)
def compat(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    """A compatibility context with a default framebuffer of 64x64."""
    context = _make(request, profile="compat", version=(2, 1), size=(64, 64))
    yield context
    context.release()


@pytest.fixture
def ours() -> Iterator[GLInterface]:
    """Our core context alone, for what native GL cannot be asked."""
    context = create_context("numpipe", size=(64, 64))
    yield context
    context.release()


@pytest.fixture
def noop() -> Iterator[GLInterface]:
    """A context on the driver that draws nothing: pure state tests."""
    context = create_context("noop", size=(64, 64))
    yield context
    context.release()


@pytest.fixture
def error_name() -> Callable[[GLInterface], str]:
    """The pending GL error by name."""
    return lambda context: GL.name_of(context.get_error(), "error")


@pytest.fixture(autouse=True)
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What numpipe has bound at a draw is what it would have if all were derived anew."""
    watch = Watch(monkeypatch)
    yield
    assert sorted(set(watch.wrong)) == []


_SURVIVED: set[int] = set()
"""hashes of the texts of shaders that were read back: most tests draw with a few of them"""


@pytest.fixture(autouse=True)
def shaders_survive_text_and_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every shader a test hands to numpipe reads back the same from its text and its bytes."""
    create = HostContext.create_shader_state

    def checked(self: HostContext, stage: Any, shader: Any, *rest: Any) -> Any:
        text = print_shader(shader)
        if hash(text) not in _SURVIVED:
            for copy in (parse(text), deserialize(serialize(shader))):
                assert print_shader(copy) == text
                copy.unref()
            _SURVIVED.add(hash(text))
        return create(self, stage, shader, *rest)

    monkeypatch.setattr(HostContext, "create_shader_state", checked)
