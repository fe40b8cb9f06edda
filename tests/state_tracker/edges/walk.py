"""Makes the calls: every edge of every argument of a valid call, then the call itself.

What a call opens is closed again at once (`_CLOSED_BY`), so that the next one meets the same state
whichever edge was accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from tests.state_tracker.edges.values import AtLimit, arguments_for, edges_of
from tests.state_tracker.negative_suite import prepare, topics

_CLOSED_BY: dict[str, str] = {
    "begin": "end",
    "new_list": "end_list",
    "push_matrix": "pop_matrix",
    "push_attrib": "pop_attrib",
    "push_client_attrib": "pop_client_attrib",
    "push_debug_group": "pop_debug_group",
    "begin_transform_feedback": "end_transform_feedback",
    "map_buffer_range": "unmap_buffer",
    "begin_query": "end_query",
    "begin_query_indexed": "end_query_indexed",
}
# Calls that end something begin it here.
_OPENED_BY = {closing: opening for opening, closing in _CLOSED_BY.items()}


@dataclass(frozen=True, slots=True)
class Edge:
    """A call; `parameter` is the one that stands at an edge, "" for the valid call itself."""

    method: str
    arguments: tuple[Any, ...]
    parameter: str = ""

    def __str__(self) -> str:
        params = FUNCTIONS.method(self.method).params
        shown = []
        for param, value in zip(params, self.arguments, strict=False):
            text = f"array[{value.size}]" if isinstance(value, np.ndarray) else str(value)
            if param.type == "enum" and isinstance(value, int):
                text = GL.name_of(value)
            shown.append(f"*{text}" if param.name == self.parameter else text)
        return f"{self.method}({', '.join(shown)})"


def edges(topic: str) -> Iterator[Edge]:
    """Every call of a topic: the edges of each argument, then the valid call."""
    for method, given in topics()[topic]:
        arguments = arguments_for(method, given)
        for i, param in enumerate(FUNCTIONS.method(method).params[: len(arguments)]):
            for value in edges_of(method, param, given[i]):
                yield Edge(method, (*arguments[:i], value, *arguments[i + 1 :]), param.name)
        yield Edge(method, arguments)


def prepared(gl: GLInterface) -> GLInterface:
    prepare(gl)
    return gl


def _code(gl: GLInterface) -> int:
    code = int(gl.get_error())
    while gl.get_error():
        pass
    return code


def answer(gl: GLInterface, edge: Edge) -> int | None:
    """The error code of one call; None where this GL has no such function."""
    arguments = tuple(
        max(a.resolve(gl), 0) if isinstance(a, AtLimit) else a for a in edge.arguments
    )
    try:
        getattr(gl, edge.method)(*arguments)
    except (GalletteError, AttributeError):
        _code(gl)
        return None
    if edge.method == "begin" and (code := _inside(gl)) is not None:
        return code
    code = _code(gl)
    closing = _CLOSED_BY.get(edge.method)
    if closing is not None and code == GL.NO_ERROR:
        count = len(FUNCTIONS.method(closing).params)
        getattr(gl, closing)(*arguments[:count])
        _code(gl)
    return code


def _inside(gl: GLInterface) -> int | None:
    """glGetError must not be called between Begin and End."""
    gl.end()
    code = _code(gl)
    return None if code == GL.NO_ERROR else code


def walk(gl: GLInterface, topic: str) -> list[int | None]:
    """The answers to all edges of a topic."""
    prepared(gl)
    return [answer(gl, edge) for edge in edges(topic)]
