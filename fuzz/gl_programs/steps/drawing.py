"""Draw calls of every kind, alone and in bursts that a queue merges."""

from __future__ import annotations

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.steps import objects, settings, transfer
from fuzz.gl_programs.writer import PLAIN, WHOLE_VIEW, Writer

INDEX_TYPES = (("UNSIGNED_BYTE", "u1"), ("UNSIGNED_SHORT", "u2"), ("UNSIGNED_INT", "u4"))


def mode_of(w: Writer) -> str:
    """The corners of a multisampled line lie on sample positions: a tie, decided by rounding."""
    if w.often(0.7):
        return "GL.TRIANGLES"
    return w.pick(t.FILLED if w.target.samples else t.PRIMITIVES)


@PLAIN.step(12)
def draw(w: Writer) -> None:
    """One draw of the bound array."""
    count = w.array.vertices
    mode, first = mode_of(w), w.r.choice([0, 0, 3])
    many = max(count - first, 0)
    kind = w.number(10)
    if kind < 4:
        w.draw(f"gl.draw_arrays({mode}, {first}, {many})")
    elif kind == 4:
        w.draw(f"gl.draw_arrays_instanced({mode}, {first}, {many}, {1 + w.number(3)})")
    elif kind == 5:
        half = many // 6 * 3
        w.draw(
            f"gl.multi_draw_arrays({mode}, np.array([0, {half}], 'i4'), "
            f"np.array([3, {min(many - half, 3)}], 'i4'), 2)"
        )
    elif kind == 6:
        command = f"[{many}, {1 + w.number(2)}, {first}, 0]"
        w.draw(f"w.indirect({command}, lambda: gl.draw_arrays_indirect({mode}, 0))")
    else:
        indexed(w, mode, count)


def indexed(w: Writer, mode: str, count: int) -> None:
    """A draw through indices, whose buffer may go away before the draw is done."""
    kind, dtype = w.r.choice(INDEX_TYPES)
    base = w.r.choice([0, 0, 0, 1])
    order = [w.data.randrange(max(count - base, 1)) for _ in range(w.r.choice([3, 6, 12]))]
    name, size = w.fresh("indices"), int(dtype[1])
    last = (1 << 8 * size) - 1 if w.es else 255  # ES restarts at the largest index alone
    if w.often(0.15):
        order[w.number(len(order))] = last  # where restarting is on; else beyond the last vertex
        order = [min(i, count - 1) if i != last else i for i in order]
    w.say(
        f"{name} = w.buffer()",
        f"gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, {name})",
        f"gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, {len(order) * size}, "
        f"np.array({order}, {dtype!r}), GL.STATIC_DRAW)",
    )
    many = len(order)
    # An index beyond the last vertex is undefined: it restarts instead.
    restart = (
        "gl.disable(GL.PRIMITIVE_RESTART_FIXED_INDEX); gl.enable(GL.PRIMITIVE_RESTART); "
        "gl.primitive_restart_index(255); "
    )
    if w.es:
        restart = "gl.enable(GL.PRIMITIVE_RESTART_FIXED_INDEX); "
    restart = restart if last in order else ""
    if w.unfilled:  # llvmpipe offsets outlines, to the near plane, where a triangle has no area
        restart += "gl.disable(GL.POLYGON_OFFSET_FILL); "
    restart += f"gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, {name}); "
    if base:
        w.draw(f"{restart}gl.draw_elements_base_vertex({mode}, {many}, GL.{kind}, 0, {base})")
    elif w.often(0.2):
        w.draw(f"{restart}gl.draw_elements_instanced({mode}, {many}, GL.{kind}, 0, 2)")
    elif w.often(0.2):
        w.draw(
            f"{restart}gl.draw_range_elements({mode}, 0, {count - 1}, {many - 3}, GL.{kind}, "
            f"{3 * size})"
        )
    elif w.often(0.15):
        command = f"[{many}, 1, 0, 0, 0]"
        w.draw(
            f"{restart}w.indirect({command}, "
            f"lambda: gl.draw_elements_indirect({mode}, GL.{kind}, 0))"
        )
    else:
        w.draw(f"{restart}gl.draw_elements({mode}, {many}, GL.{kind}, 0)")
    if w.often(0.5):  # the draw may still wait; its indices must not
        w.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")


@PLAIN.step(5)
def burst(w: Writer) -> None:
    """Small draws that differ in little: what a queue merges."""
    instanced = w.often(0.25)
    for _ in range(2 + w.number(4)):
        x, y = w.sixteenths(12), w.sixteenths(12)
        w.say(f"w.uniform({w.program.name}, 'offset', {x}, {y}, 0.0, 0.0)")
        if w.often(0.5):
            w.say(f"w.uniform({w.program.name}, 'tint', {w.quarters()})")
        if instanced:
            many = 1 + w.number(3)
            w.draw(f"gl.draw_arrays_instanced(GL.TRIANGLES, 0, {w.array.vertices}, {many})")
        else:
            w.draw(f"gl.draw_arrays(GL.TRIANGLES, 0, {w.array.vertices})")
        if w.often(0.25):
            between = [objects.change_buffer, settings.state, objects.change_texture, objects.bind]
            w.r.choice(between)(w)


@PLAIN.step(3)
def in_between(w: Writer) -> None:
    """Small draws with alternating targets, and updates of parts of pictures between them."""
    for _ in range(3 + w.number(6)):
        kind = w.number(4)
        if kind == 0:
            w.bound_target = w.r.choice(w.targets)
            w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {w.target.name})")
        elif kind == 1:
            transfer.clear_part(w)
        elif kind == 2:
            transfer.upload(w)
        x, y = w.sixteenths(12), w.sixteenths(12)
        w.say(f"w.uniform({w.program.name}, 'offset', {x}, {y}, 0.0, 0.0)")
        w.draw(f"gl.draw_arrays(GL.TRIANGLES, 0, {w.array.vertices})")


@PLAIN.step(3)
def streaming(w: Writer) -> None:
    """What is drawn is written between draws, by vertex and by block; perhaps inside a query."""
    buffer = w.array.buffer
    if buffer not in [name for name, _ in w.buffers]:
        return
    query = w.fresh("query") if w.often(0.3) else ""
    counted = w.choice("GL.SAMPLES_PASSED", "GL.ANY_SAMPLES_PASSED", "GL.PRIMITIVES_GENERATED")
    blocks = "blocks" in (w.program.vertex,) and w.often(0.7)
    if blocks:
        block = w.fresh("block")
        w.say(
            f"{block} = w.block({w.seed()})",
            f"gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, {block}, {w.choice(0, 256)}, 256)",
        )
    for number in range(2 + w.number(5)):
        offset = 0 if w.array.vertices < 6 else w.choice(0, 0, 120)
        data = f"w.vertices({w.seed()}, 3)"
        w.say(f"gl.bind_buffer(GL.ARRAY_BUFFER, {buffer})")
        if w.often(0.7):
            w.say(f"gl.buffer_sub_data(GL.ARRAY_BUFFER, {offset}, 120, {data})")
        else:
            how = w.choice("", "invalidate", "flush", "unsynchronized")
            w.say(f"w.mapped(GL.ARRAY_BUFFER, {offset}, {data}, {how!r})")
        if blocks and w.often(0.5):
            at, value = w.choice(0, 16, 256), f"np.array([{w.quarters()}], 'f4')"
            w.say(
                f"gl.bind_buffer(GL.UNIFORM_BUFFER, {block})",
                f"gl.buffer_sub_data(GL.UNIFORM_BUFFER, {at}, 16, {value})",
            )
        if query and number == 1:
            w.say(f"{query} = w.query()", f"gl.begin_query({counted}, {query})")
        many = w.array.vertices if w.often(0.7) else 3
        if w.often(0.2):
            indexed(w, "GL.TRIANGLES", many)
        else:
            w.draw(f"gl.draw_arrays(GL.TRIANGLES, 0, {many})")
        if w.often(0.2):
            w.say(f"w.uniform({w.program.name}, 'offset', {w.sixteenths(8)}, 0.0, 0.0, 0.0)")
    if query:
        w.say(f"gl.end_query({counted})")
        w.queries.append(query)


@PLAIN.step(5)
def uniform(w: Writer) -> None:
    if w.often(0.5):
        w.say(f"w.uniform({w.program.name}, 'tint', {w.quarters()})")
    else:
        w.say(f"w.uniform({w.program.name}, 'offset', {w.sixteenths(8)}, 0.0, 0.0, 0.0)")


@PLAIN.step(1)
def block(w: Writer) -> None:
    """Another range of another buffer behind the uniform block."""
    name = w.fresh("block")
    w.say(f"{name} = w.block({w.seed()})")
    w.say(f"gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, {name}, {w.choice(0, 256)}, 256)")
    if w.often(0.3):
        w.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")


@PLAIN.step(2)
def immediate(w: Writer) -> None:
    """Primitives of glBegin, rectangles and arrays, without a program."""
    if w.core or w.target.kind != "f" or w.target.samples:
        return
    before = w.defined()
    before[1] = "gl.use_program(0)"
    if w.dual_factors:  # which has no second colour
        w.dual_factors = False
        before.append("gl.blend_func(GL.ONE, GL.ONE_MINUS_SRC_ALPHA)")
    before += w.sampled("2d")
    corners = [(w.sixteenths(16), w.sixteenths(16)) for _ in range(4)]
    depth = w.sixteenths(8) * 2
    calls = [f"gl.color4f({w.quarters()})"]
    mode = w.pick(("QUADS", "TRIANGLES", "TRIANGLE_FAN", "POLYGON", "QUAD_STRIP"))
    if mode in ("GL.QUADS", "GL.POLYGON", "GL.QUAD_STRIP"):  # only of a rectangle all agree
        (x, y), (u, v) = corners[:2]
        corners = [(x, y), (u, y), (u, v), (x, v)]
        if mode == "GL.QUAD_STRIP":
            corners = [(x, y), (u, y), (x, v), (u, v)]
    calls.append(f"gl.begin({mode})")
    calls += [f"gl.vertex3f({x}, {y}, {depth})" for x, y in corners]
    calls.append("gl.end()")
    w.say("; ".join(["gl.bind_vertex_array(0)", *before, *calls]))
    w.say(f"gl.bind_vertex_array({w.array.name})")


@PLAIN.step(1)
def corners(w: Writer) -> None:
    """Polygons as points: only unclipped ones, since rounding decides where a cut ends."""
    if not w.unfilled:
        return
    name, size = w.fresh("buffer"), w.choice(1.0, 4.0)
    w.say(
        f"{name} = w.buffer()",
        f"gl.bind_buffer(GL.ARRAY_BUFFER, {name})",
        f"gl.buffer_data(GL.ARRAY_BUFFER, 240, w.quad({w.seed()}, 15), GL.STATIC_DRAW)",
    )
    w.say(
        f"w.array({name}); w.uniform({w.program.name}, 'offset', 0.0, 0.0, 0.0, 0.0); "
        f"gl.point_size({size}); gl.polygon_mode(GL.FRONT_AND_BACK, GL.POINT); {WHOLE_VIEW}"
    )
    w.draw("gl.draw_arrays(GL.TRIANGLES, 0, 6)")
    w.say(f"gl.polygon_mode(GL.FRONT_AND_BACK, GL.FILL); gl.bind_vertex_array({w.array.name})")
