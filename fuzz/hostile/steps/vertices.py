"""Vertex arrays: every type and size of attributes, hostile offsets, strides and divisors."""

from __future__ import annotations

from .. import tables as t
from ..writer import Writer, step
from .buffers import new_buffer

__all__ = ["new_array"]

_STRIDES = (0, 1, 3, 4, 12, 16, 16, 20, 32, 64, 100, 2047, 2048)


def new_array(w: Writer) -> str:
    """A vertex array with some attributes, bound."""
    name = w.fresh("v")
    w.say(f"{name} = gl.create_vertex_arrays(1)[0]; gl.bind_vertex_array({name})")
    w.arrays.append(name)
    wanted = w.used.program.attributes if w.used is not None else []
    for location, letter in wanted:
        if w.often(0.9):
            _attribute(w, name, location, letter)
    if w.often(0.7):
        w.say(f"gl.vertex_array_element_buffer({name}, {_indices(w)})")
    return name


def _indices(w: Writer) -> str:
    """A buffer of indices: small ones, restarts and others."""
    b = new_buffer(w, w.r.choice((64, 256, 1000)))
    word = w.pick(("u1", "u2", "u4"))
    data = f"h.indices({w.seed()}, {b.size}, '{word}')"
    w.say(f"gl.named_buffer_sub_data({b.name}, 0, {b.size}, {data})")
    return b.name


def _attribute(w: Writer, array: str, location: int, letter: str) -> None:
    """Its format and where it is."""
    r = w.r
    type_ = w.pick(t.ATTRIBUTES) if letter != "d" else "GL.DOUBLE"
    size: object = r.choice((1, 2, 3, 4, 4))
    if "2_10_10_10" in type_:
        size = 4
    elif "10F" in type_:
        size = 3
    if w.often(0.05):
        size = "GL.BGRA"
    offset = r.choice((0, 0, 0, 1, 4, 8, 12, 100, 2047))
    if letter == "d" and w.often(0.9):
        call = f"vertex_array_attrib_l_format({array}, {location}, {size}, GL.DOUBLE, {offset})"
    elif letter in "iu" and w.often(0.9):
        whole = w.pick(t.ATTRIBUTES[:6])
        call = f"vertex_array_attrib_i_format({array}, {location}, {size}, {whole}, {offset})"
    else:
        call = (
            f"vertex_array_attrib_format({array}, {location}, {size}, {type_}, {r.randrange(2)}, "
            f"{offset})"
        )
    binding = r.choice((location, location, r.randrange(16)))
    w.say(
        f"gl.{call}; gl.vertex_array_attrib_binding({array}, {location}, {binding}); "
        f"gl.enable_vertex_array_attrib({array}, {location})"
    )
    _buffer(w, array, binding)
    if w.often(0.15):
        divisor = r.choice((0, 1, 2, 3, 1 << 31, (1 << 32) - 1))
        w.say(f"gl.vertex_array_binding_divisor({array}, {binding}, {divisor})")


def _buffer(w: Writer, array: str, binding: int) -> None:
    b = w.buffer()
    offset = w.offset(b.size, 1 if w.often(0.2) else 4)
    stride = w.r.choice(_STRIDES)
    w.say(f"gl.vertex_array_vertex_buffer({array}, {binding}, {b.name}, {offset}, {stride})")


@step(3)
def another(w: Writer) -> None:
    new_array(w)


@step(3)
def bound(w: Writer) -> None:
    if w.arrays:
        w.say(f"gl.bind_vertex_array({w.pick(w.arrays)})")


@step(4)
def changed(w: Writer) -> None:
    if w.arrays:
        letter = w.r.choice("ffiud")
        _attribute(w, w.pick(w.arrays), w.r.randrange(10), letter)


@step(3)
def with_another_buffer(w: Writer) -> None:
    if w.arrays:
        _buffer(w, w.pick(w.arrays), w.r.randrange(8))


@step(2)
def with_other_indices(w: Writer) -> None:
    if w.arrays:
        name = _indices(w) if w.often(0.7) else w.buffer().name
        w.say(f"gl.vertex_array_element_buffer({w.pick(w.arrays)}, {name})")


@step(1)
def switched(w: Writer) -> None:
    if w.arrays:
        call = w.pick(("enable", "disable", "disable"))
        w.say(f"gl.{call}_vertex_array_attrib({w.pick(w.arrays)}, {w.r.randrange(16)})")


@step(2)
def current(w: Writer) -> None:
    """Values of attributes that no array gives."""
    at = w.r.randrange(8)
    w.say(
        w.pick(
            (
                f"gl.vertex_attrib4f({at}, {w.reals(4)})",
                f"gl.vertex_attrib_i4i({at}, {', '.join(str(w.small(5)) for _ in range(4))})",
                f"gl.vertex_attrib_l4d({at}, {w.reals(4)})",
                f"gl.vertex_attrib4nub({at}, 1, 2, 3, 255)",
                f"gl.vertex_attrib_p4ui({at}, GL.INT_2_10_10_10_REV, 1, {w.unsigned()})",
                f"gl.vertex_attrib_i4uiv({at}, h.ints({w.seed()}, 4).view('u4'))",
            )
        )
    )


@step(1)
def deleted(w: Writer) -> None:
    if len(w.arrays) > 1:
        name = w.pick(w.arrays)
        w.arrays.remove(name)
        w.say(f"gl.delete_vertex_arrays(1, np.array([{name}], 'u4'))")
        w.say(f"gl.bind_vertex_array({w.pick(w.arrays)})")
