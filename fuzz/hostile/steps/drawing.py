"""Draws of every kind, with hostile counts, vertices, instances and commands in buffers."""

from __future__ import annotations

from collections.abc import Callable

from .. import tables as t
from ..writer import Writer, step
from .buffers import new_buffer
from .shading import new_program
from .vertices import new_array

__all__ = ["draw"]

_GEOMETRY = {
    "points": ("POINTS",),
    "lines": ("LINES", "LINE_STRIP", "LINE_LOOP"),
    "lines_adjacency": ("LINES_ADJACENCY", "LINE_STRIP_ADJACENCY"),
    "triangles": ("TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN"),
    "triangles_adjacency": ("TRIANGLES_ADJACENCY", "TRIANGLE_STRIP_ADJACENCY"),
}


def _mode(w: Writer) -> str:
    """One that the program takes."""
    if w.often(0.03):
        return w.pick((*t.MODES, "GL.PATCHES", *t.OLD_MODES))
    program = w.used.program if w.used is not None else None
    if program is not None and program.patches:
        return "GL.PATCHES"
    if program is not None and program.primitive:
        return f"GL.{w.pick(_GEOMETRY[program.primitive])}"
    if w.compat and w.often(0.2):
        return w.pick(t.OLD_MODES)
    return w.pick(t.MODES) if w.often(0.4) else "GL.TRIANGLES"


def _count(w: Writer) -> int:
    """Of vertices or indices."""
    kind = w.r.random()
    program = w.used.program if w.used is not None else None
    grows = program is not None and (program.patches or bool(program.primitive))
    if kind < 0.85 or (grows and kind < 0.99):
        return w.r.choice((0, 1, 3, 3, 4, 6, 6, 9, 12, 30))
    if kind < 0.996:
        return w.r.choice((100, 255, 256, 1000))
    return w.r.choice((65537, 200_000, (1 << 31) - 1, -1))


def _first(w: Writer) -> int:
    kind = w.r.random()
    if kind < 0.8:
        return w.r.choice((0, 0, 0, 1, 3, 5))
    return w.r.choice((100, 1000, 65536, 1 << 30, (1 << 31) - 1, (1 << 31) - 4, -1))


def _base(w: Writer) -> int:
    """A base vertex."""
    kind = w.r.random()
    if kind < 0.6:
        return w.r.choice((0, 0, 1, 4))
    return w.r.choice((-1, -3, -100, 1000, 1 << 30, -(1 << 31), (1 << 31) - 1, 65536))


def _instances(w: Writer) -> int:
    kind = w.r.random()
    if kind < 0.9:
        return w.r.choice((1, 1, 2, 3, 7))
    return w.r.choice((0, 20, 100)) if kind < 0.995 else w.r.choice((65536, (1 << 31) - 1, -1))


def _first_instance(w: Writer) -> int:
    return w.r.choice((0, 0, 1, 5, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1))


def _place(w: Writer, word: str) -> int:
    """Where indices begin, in bytes."""
    size = {"GL.UNSIGNED_BYTE": 1, "GL.UNSIGNED_SHORT": 2}.get(word, 4)
    kind = w.r.random()
    if kind < 0.6:
        return w.r.randrange(8) * size
    if kind < 0.85:
        return w.r.randrange(300)
    return w.r.choice((60, 63, 1000, 65536, 1 << 31, (1 << 32) - 2, (1 << 40) + 1, (1 << 62) - 1))


def _elements(w: Writer) -> str:
    """Mode, count, type and place of indices."""
    word = w.pick(t.WORDS)
    return f"{_mode(w)}, {_count(w)}, {word}, {_place(w, word)}"


def _arrays(w: Writer) -> str:
    return f"gl.draw_arrays({_mode(w)}, {_first(w)}, {_count(w)})"


def _plain_elements(w: Writer) -> str:
    return f"gl.draw_elements({_elements(w)})"


def _instanced(w: Writer) -> str:
    if w.often(0.5):
        return (
            f"gl.draw_arrays_instanced_base_instance({_mode(w)}, {_first(w)}, {_count(w)}, "
            f"{_instances(w)}, {_first_instance(w)})"
        )
    return (
        f"gl.draw_elements_instanced_base_vertex_base_instance({_elements(w)}, {_instances(w)}, "
        f"{_base(w)}, {_first_instance(w)})"
    )


def _based(w: Writer) -> str:
    if w.often(0.4):
        low, high = w.r.choice(((0, 5), (0, 0), (3, 100), (0, (1 << 32) - 1)))
        word = w.pick(t.WORDS)
        return (
            f"gl.draw_range_elements_base_vertex({_mode(w)}, {low}, {high}, {_count(w)}, {word}, "
            f"{_place(w, word)}, {_base(w)})"
        )
    return f"gl.draw_elements_base_vertex({_elements(w)}, {_base(w)})"


def _several(w: Writer) -> str:
    count = w.r.choice((1, 2, 3, 5))
    counts = [min(_count(w), 1000) for _ in range(count)]
    if w.often(0.5):
        firsts = [_first(w) for _ in range(count)]
        return (
            f"gl.multi_draw_arrays({_mode(w)}, np.array({firsts}, 'i4'), np.array({counts}, 'i4'), "
            f"{count})"
        )
    word = w.pick(t.WORDS)
    places = [_place(w, word) for _ in range(count)]
    bases = [_base(w) for _ in range(count)]
    return (
        f"gl.multi_draw_elements_base_vertex({_mode(w)}, np.array({counts}, 'i4'), {word}, "
        f"np.array({places}, 'u8'), {count}, np.array({bases}, 'i4'))"
    )


def _indirect(w: Writer) -> str:
    """Commands in a buffer: made to be such, or whatever is there."""
    indexed = w.often(0.5)
    b = w.buffer()
    if w.often(0.85):
        b = new_buffer(w, 256)
        w.say(f"gl.named_buffer_sub_data({b.name}, 0, 256, h.commands({w.seed()}, {int(indexed)}))")
    head = f"gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, {b.name}); "
    offset = w.r.choice((0, 0, 20, 16, 4, 236, 240, 252, w.offset(b.size)))
    mode = _mode(w)
    if indexed:
        mode += f", {w.pick(t.WORDS)}"
    kind = "elements" if indexed else "arrays"
    if w.often(0.4):
        return head + f"gl.draw_{kind}_indirect({mode}, {offset})"
    stride = w.r.choice((0, 0, 16, 20, 32, 4, 3, -4, 1 << 30))
    count = w.r.choice((1, 2, 3, 12, 13, 1000))
    if w.often(0.6):
        return head + f"gl.multi_draw_{kind}_indirect({mode}, {offset}, {count}, {stride})"
    counts = new_buffer(w, 64)
    w.say(f"gl.named_buffer_sub_data({counts.name}, 0, 64, h.groups({w.seed()}, 16))")
    return head + (
        f"gl.bind_buffer(GL.PARAMETER_BUFFER, {counts.name}); "
        f"gl.multi_draw_{kind}_indirect_count({mode}, {offset}, {w.r.choice((0, 4, 60, 64, 2))}, "
        f"{count}, {stride})"
    )


def _fed_back(w: Writer) -> str:
    if not w.feedbacks:
        return _arrays(w)
    name = w.pick(w.feedbacks)
    if w.often(0.5):
        return f"gl.draw_transform_feedback({_mode(w)}, {name})"
    stream = w.r.choice((0, 0, 1, 3))
    return (
        f"gl.draw_transform_feedback_stream_instanced({_mode(w)}, {name}, {stream}, "
        f"{_instances(w)})"
    )


_KINDS: tuple[tuple[int, Callable[[Writer], str]], ...] = (
    (8, _arrays),
    (8, _plain_elements),
    (4, _instanced),
    (4, _based),
    (3, _several),
    (4, _indirect),
    (1, _fed_back),
)


@step(60)
def draw(w: Writer) -> None:
    """With what there is."""
    if not w.programs:
        new_program(w)
    if not w.arrays:
        new_array(w)
    if w.drawn in w.spoiled and w.often(0.3):
        _to_a_whole_framebuffer(w)
    (kind,) = w.r.choices([write for _, write in _KINDS], [weight for weight, _ in _KINDS])
    call = kind(w)
    if w.often(0.03):
        call = "gl.memory_barrier(GL.ALL_BARRIER_BITS); " + call
    w.say(call)
    for _ in range(w.r.choice((0, 0, 1, 2, 4))):  # draws in a row may be merged
        w.say(call if w.often(0.5) else _arrays(w))


def _to_a_whole_framebuffer(w: Writer) -> None:
    whole = [name for name in w.framebuffers if name not in w.spoiled]
    w.drawn = w.r.choice([*whole, "0"])
    w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {w.drawn})")
