"""Counts of names, objects and draws that nobody means: GL_OUT_OF_MEMORY before any work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.entry_points.count_limits import MOST_DRAWS, MOST_NAMES
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.memory import read_strings

MANY = (1 << 31) - 1
NOWHERE = 16
"""An address that cannot be read: the count is looked at before."""

GENERATED = (
    "gen_buffers",
    "gen_framebuffers",
    "gen_program_pipelines",
    "gen_queries",
    "gen_renderbuffers",
    "gen_textures",
    "gen_transform_feedbacks",
    "gen_vertex_arrays",
)
DELETED = (
    "delete_buffers",
    "delete_framebuffers",
    "delete_program_pipelines",
    "delete_queries",
    "delete_renderbuffers",
    "delete_samplers",
    "delete_textures",
    "delete_transform_feedbacks",
    "delete_vertex_arrays",
)


@pytest.fixture(scope="module")
def gl() -> Iterator[Any]:
    made = create_context("numpipe", version=(4, 6))
    yield made
    made.release()


@pytest.mark.parametrize("name", GENERATED)
def test_names_have_a_limit_in_one_call(gl: Any, name: str) -> None:
    for count in (MOST_NAMES + 1, MANY):
        getattr(gl, name)(count)
        assert gl.get_error() == GL.OUT_OF_MEMORY


@pytest.mark.parametrize("name", DELETED)
def test_names_to_be_deleted_have_a_limit_in_one_call(gl: Any, name: str) -> None:
    getattr(gl, name)(MANY, NOWHERE)
    assert gl.get_error() == GL.OUT_OF_MEMORY


def test_draws_have_a_limit_in_one_call(gl: Any) -> None:
    for count in (MOST_DRAWS + 1, MANY):
        gl.multi_draw_arrays(GL.POINTS, NOWHERE, NOWHERE, count)
        assert gl.get_error() == GL.OUT_OF_MEMORY
        gl.multi_draw_elements(GL.POINTS, NOWHERE, GL.UNSIGNED_INT, NOWHERE, count)
        assert gl.get_error() == GL.OUT_OF_MEMORY


def test_strings_have_a_limit_in_one_call() -> None:
    with pytest.raises(GLError, match=f"{MANY} strings at once; at most {MOST_NAMES}"):
        read_strings(NOWHERE, MANY)
