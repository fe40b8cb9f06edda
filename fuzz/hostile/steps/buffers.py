"""Buffers: made, filled, copied, mapped, orphaned, resized and deleted, wherever they are bound."""

from __future__ import annotations

from .. import tables as t
from ..writer import Buffer, Writer, step

__all__ = ["new_buffer"]

_INDEXED_LIMIT = 8
_CLEARS = (
    ("R8UI", "RED_INTEGER", "UNSIGNED_BYTE"), ("R32F", "RED", "FLOAT"), ("RG16", "RG", "FLOAT"),
    ("RGBA32UI", "RGBA_INTEGER", "UNSIGNED_INT"), ("RGBA8", "RGBA", "HALF_FLOAT"),
    ("R16I", "RED_INTEGER", "SHORT"), ("RGBA16F", "RGBA", "FLOAT"), ("RGB32F", "RGB", "FLOAT"),
)  # fmt: skip


def new_buffer(w: Writer, size: int | None = None) -> Buffer:
    """A buffer of data."""
    made = Buffer(w.fresh("b"), w.size() if size is None else size)
    w.say(f"{made.name} = gl.create_buffers(1)[0]")
    _fill(w, made, w.often(0.2))
    w.buffers.append(made)
    return made


def _fill(w: Writer, b: Buffer, fixed: bool) -> None:
    data = f"h.data({w.seed()}, {b.size})" if w.often(0.9) else "None"
    if fixed:
        flags = "|".join(
            ["GL.DYNAMIC_STORAGE_BIT"]
            + [f for f in t.names("MAP_READ_BIT MAP_WRITE_BIT") if w.often(0.8)]
            + (["GL.MAP_PERSISTENT_BIT"] if w.often(0.4) else [])
            + (["GL.SPARSE_STORAGE_BIT_ARB"] if w.often(0.1) else [])
        )
        if "SPARSE" in flags:
            data = "None"
        w.say(f"gl.named_buffer_storage({b.name}, {b.size}, {data}, {flags})")
        b.fixed = True
    else:
        w.say(f"gl.named_buffer_data({b.name}, {b.size}, {data}, {w.pick(t.USAGES)})")


@step(5)
def another(w: Writer) -> None:
    new_buffer(w)


@step(3)
def resized(w: Writer) -> None:
    b = w.buffer()
    b.size = w.size()
    _fill(w, b, w.often(0.1))


@step(4)
def written(w: Writer) -> None:
    b = w.buffer()
    offset = w.offset(b.size)
    length = min(max(w.length(b.size, offset), 0), 1 << 17)
    w.say(f"gl.named_buffer_sub_data({b.name}, {offset}, {length}, h.data({w.seed()}, {length}))")


@step(2)
def copied(w: Writer) -> None:
    a, b = w.buffer(), w.buffer()
    at, to = w.offset(a.size), w.offset(b.size)
    w.say(f"gl.copy_named_buffer_sub_data({a.name}, {b.name}, {at}, {to}, {w.length(a.size, at)})")


@step(1)
def cleared(w: Writer) -> None:
    b, (internal, format, type_) = w.buffer(), w.r.choice(_CLEARS)
    how = f"GL.{format}, GL.{type_}, h.data({w.seed()}, 16)"
    if w.often(0.5):
        w.say(f"gl.clear_named_buffer_data({b.name}, GL.{internal}, {how})")
        return
    offset = w.offset(b.size, 16)
    length = w.length(b.size, offset) // 16 * 16
    w.say(f"gl.clear_named_buffer_sub_data({b.name}, GL.{internal}, {offset}, {length}, {how})")


@step(2)
def bound(w: Writer) -> None:
    w.say(f"gl.bind_buffer({w.pick(t.BUFFER_TARGETS)}, {w.buffer().name})")


@step(6)
def bound_at_an_index(w: Writer) -> None:
    b, target = w.buffer(), w.pick(t.INDEXED)
    index = w.small(4 if "FEEDBACK" in target else _INDEXED_LIMIT)
    if w.often(0.3):
        w.say(f"gl.bind_buffer_base({target}, {max(index, 0)}, {b.name})")
        return
    offset = w.offset(b.size, 256 if "UNIFORM" in target else 16)
    length = w.length(b.size, offset)
    length = length // 4 * 4 if "FEEDBACK" in target else length
    w.say(f"gl.bind_buffer_range({target}, {max(index, 0)}, {b.name}, {offset}, {length})")


@step(1)
def bound_together(w: Writer) -> None:
    target, several = w.pick(t.INDEXED[:2]), [w.buffer() for _ in range(3)]
    names = ", ".join(b.name for b in several)
    first = w.r.randrange(5)
    if w.often(0.5):
        w.say(f"gl.bind_buffers_base({target}, {first}, 3, np.array([{names}], 'u4'))")
        return
    offsets = [w.offset(b.size, 256) for b in several]
    sizes = [w.length(b.size, o) for b, o in zip(several, offsets, strict=True)]
    w.say(
        f"gl.bind_buffers_range({target}, {first}, 3, np.array([{names}], 'u4'), "
        f"np.array({offsets}, 'i8'), np.array({sizes}, 'i8'))"
    )


@step(3)
def mapped(w: Writer) -> None:
    """Written through a mapping, which may stay while others use the buffer."""
    b = w.buffer()
    offset = w.offset(b.size)
    length = w.length(b.size, offset)
    flags = "|".join(
        ["GL.MAP_WRITE_BIT"]
        + [
            f
            for f in t.names("MAP_READ_BIT MAP_INVALIDATE_RANGE_BIT MAP_INVALIDATE_BUFFER_BIT "
                             "MAP_FLUSH_EXPLICIT_BIT MAP_UNSYNCHRONIZED_BIT MAP_PERSISTENT_BIT")
            if w.often(0.2)
        ]
    )  # fmt: skip
    w.say(f"h.write(gl.map_named_buffer_range({b.name}, {offset}, {length}, {flags}), "
          f"{w.seed()}, {max(min(length, b.size - offset), 0)})")  # fmt: skip
    if w.often(0.3):
        w.say(
            f"gl.flush_mapped_named_buffer_range({b.name}, {w.offset(length)}, {w.offset(length)})"
        )
    if w.often(0.7):
        w.say(f"gl.unmap_named_buffer({b.name})")


@step(1)
def mapped_whole(w: Writer) -> None:
    b = w.buffer()
    access = w.pick(t.names("READ_ONLY WRITE_ONLY READ_WRITE"))
    w.say(f"gl.map_named_buffer({b.name}, {access})")
    if w.often(0.6):
        w.say(f"gl.unmap_named_buffer({b.name})")


@step(1)
def unmapped(w: Writer) -> None:
    w.say(f"gl.unmap_named_buffer({w.buffer().name})")


@step(1)
def invalidated(w: Writer) -> None:
    b = w.buffer()
    if w.often(0.5):
        w.say(f"gl.invalidate_buffer_data({b.name})")
        return
    offset = w.offset(b.size)
    w.say(f"gl.invalidate_buffer_sub_data({b.name}, {offset}, {w.length(b.size, offset)})")


@step(1)
def committed(w: Writer) -> None:
    """Pages of a sparse buffer (or of one that is none)."""
    b = w.buffer()
    offset = w.r.choice((0, 65536, w.offset(b.size)))
    length = w.r.choice((65536, b.size, w.length(b.size, offset)))
    w.say(f"gl.named_buffer_page_commitment_arb({b.name}, {offset}, {length}, {w.r.randrange(2)})")


@step(2)
def read(w: Writer) -> None:
    b = w.buffer()
    offset = w.offset(b.size)
    w.say(f"gl.get_named_buffer_sub_data({b.name}, {offset}, {w.length(b.size, offset)})")


@step(2)
def deleted(w: Writer) -> None:
    """Wherever it is bound; its name may still be used."""
    if len(w.buffers) > 2:
        b = w.r.choice(w.buffers)
        w.say(f"gl.delete_buffers(1, np.array([{b.name}], 'u4'))")
        if w.often(0.8):
            w.buffers.remove(b)
