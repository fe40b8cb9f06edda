"""Contexts for state-tracker tests: the same test runs on our GL and on the machine's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

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
