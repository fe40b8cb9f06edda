"""`verify program_interface_query`: resources of a program, by name or by their properties.

Shaders in SPIR-V need not have names; then a resource is described in parentheses by its location
and component, its binding, or its binding and offset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, enum, value_of
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL

_NONE = 0xFFFFFFFF
_ENDS = (GL.PROGRAM_INPUT, GL.PROGRAM_OUTPUT)
_BUFFERS = (
    GL.UNIFORM_BLOCK,
    GL.SHADER_STORAGE_BLOCK,
    GL.ATOMIC_COUNTER_BUFFER,
    GL.TRANSFORM_FEEDBACK_BUFFER,
)
# Of interfaces whose resources are in buffers: those buffers, and the property that says which.
_INSIDE: dict[int, tuple[int, int]] = {
    GL.UNIFORM: (GL.UNIFORM_BLOCK, GL.BLOCK_INDEX),
    GL.BUFFER_VARIABLE: (GL.SHADER_STORAGE_BLOCK, GL.BLOCK_INDEX),
    GL.TRANSFORM_FEEDBACK_VARYING: (
        GL.TRANSFORM_FEEDBACK_BUFFER,
        GL.TRANSFORM_FEEDBACK_BUFFER_INDEX,
    ),
}


def _ask(session: Session, interface: int, index: int, *props: int) -> tuple[int, ...]:
    count = len(props)
    wanted, out = np.array(props, np.uint32), np.zeros(count, np.int32)
    session.gl.get_program_resourceiv(
        session.program, interface, index, count, wanted, count, None, out
    )
    return tuple(out.tolist())


def _total(session: Session, interface: int, name: int) -> int:
    out = np.zeros(1, np.int32)
    session.gl.get_program_interfaceiv(session.program, interface, name, out)
    return int(out[0])


def _find(session: Session, interface: int, props: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    """The first resource that has the given values of properties."""
    for index in range(_total(session, interface, GL.ACTIVE_RESOURCES)):
        if _ask(session, interface, index, *props) == wanted:
            return index
    return _NONE


def _described(session: Session, words: Words, interface: int) -> int:
    """The resource that `location component`, `binding [offset]`, `var location` or `atomic binding
    offset` describes.
    """
    if interface in _ENDS:
        location, component = words.integers(2)
        props = (GL.LOCATION, GL.LOCATION_COMPONENT)
        return _find(session, interface, props, (location, component))
    if interface in _BUFFERS:
        return _find(session, interface, (GL.BUFFER_BINDING,), (words.integer("a binding"),))
    if interface not in _INSIDE:
        raise words.error("resources of this interface have names only")
    kind = words.optional("var", "atomic") if interface == GL.UNIFORM else ""
    if kind == "var":
        return _find(session, interface, (GL.LOCATION,), (words.integer("a location"),))
    buffers, prop = _INSIDE[interface]
    if kind == "atomic":
        buffers, prop = GL.ATOMIC_COUNTER_BUFFER, GL.ATOMIC_COUNTER_BUFFER_INDEX
    binding, offset = words.integers(2)
    buffer = _find(session, buffers, (GL.BUFFER_BINDING,), (binding,))
    return _find(session, interface, (prop, GL.OFFSET), (buffer, offset))


def _name(words: Words) -> str:
    name = words.word("a name")
    return "" if name == '""' else name


def _value(session: Session, words: Words) -> int:
    value = value_of(words.line, words.word("a value"))
    words.end()
    return value


def _property(session: Session, words: Words, interface: int, index: int, label: str) -> None:
    prop = enum(words.line, words.word("a property"))
    expected = _value(session, words)
    if index == _NONE:
        session.wrong(f"no resource {label}")
    else:
        session.expect(_ask(session, interface, index, prop)[0], expected)


def _by_name(session: Session, words: Words, interface: int) -> None:
    name = _name(words)
    index = int(session.gl.get_program_resource_index(session.program, interface, name))
    bound = session.spirv and interface in (GL.UNIFORM_BLOCK, GL.SHADER_STORAGE_BLOCK)
    if index == _NONE and bound and session.block.binding >= 0:  # `block binding` says which
        index = _find(session, interface, (GL.BUFFER_BINDING,), (session.block.binding,))
    _property(session, words, interface, index, repr(name))


def _by_data(session: Session, words: Words, interface: int) -> None:
    _property(session, words, interface, _described(session, words, interface), "as described")


def _interface(session: Session, words: Words, interface: int) -> None:
    name = enum(words.line, words.word("a query"))
    session.expect(_total(session, interface, name), _value(session, words))


def _resource_name(session: Session, words: Words, interface: int) -> None:
    index = _described(session, words, interface)
    length, name = words.integer("a length"), _name(words)
    words.end()
    if index == _NONE:
        session.wrong("no resource as described")
        return
    seen = session.gl.get_program_resource_name(session.program, interface, index)
    session.expect((len(seen), seen), (length, name))


def _asking(method: str) -> Callable[[Session, Words, int], None]:
    """A query that returns a number for a name."""

    def run(session: Session, words: Words, interface: int) -> None:
        seen: Any = getattr(session.gl, method)(session.program, interface, _name(words))
        session.expect(int(seen) & _NONE, _value(session, words) & _NONE)

    return run


_QUERIES: dict[str, Callable[[Session, Words, int], None]] = {
    "interface": _interface,
    "resourceByData": _by_data,
    "resourceName": _resource_name,
    "resourceIndex": _asking("get_program_resource_index"),
    "resourceLocation": _asking("get_program_resource_location"),
    "resourceLocationIndex": _asking("get_program_resource_location_index"),
}


@command("verify program_interface_query")
def verify_interface(session: Session, words: Words) -> None:
    """verify program_interface_query [QUERY] GL_INTERFACE NAME|(DATA) [GL_PROPERTY] VALUE

    QUERY: interface, resourceByData, resourceName, resourceIndex, resourceLocation or
    resourceLocationIndex; without one, a property of the resource of that name.
    """
    session.need_program()
    query = _QUERIES.get(words.optional(*_QUERIES), _by_name)
    query(session, words, enum(words.line, words.word("an interface")))
