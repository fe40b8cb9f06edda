"""Queries, conditions, transform feedback and fences: begun, ended, interrupted, deleted."""

from __future__ import annotations

from .. import tables as t
from ..writer import Writer, step

__all__ = ["begin_feedback"]

_PRIMITIVES = {"points": "POINTS", "line_strip": "LINES", "triangle_strip": "TRIANGLES"}


@step(3)
def query(w: Writer) -> None:
    """Begins one, or ends what is under way."""
    if w.counting:
        w.say(f"gl.end_query({w.counting})")
        w.counting = ""
        return
    target = w.pick(t.QUERIES)
    name = w.fresh("q")
    w.say(f"{name} = gl.create_queries({target}, 1)[0]")
    if w.often(0.15):
        w.say(f"gl.begin_query_indexed({target}, {w.r.choice((0, 1, 3))}, {name})")
        w.say(f"gl.end_query_indexed({target}, {w.r.choice((0, 1, 3))})")
    else:
        w.say(f"gl.begin_query({target}, {name})")
        w.counting = target
    w.queries.append((name, target))


@step(2)
def asked(w: Writer) -> None:
    if not w.queries:
        return
    name, _ = w.r.choice(w.queries)
    what = w.pick(t.names("QUERY_RESULT QUERY_RESULT_NO_WAIT QUERY_RESULT_AVAILABLE QUERY_TARGET"))
    if w.often(0.5):
        w.say(f"gl.get_query_object{w.pick(('iv', 'uiv', 'i64v', 'ui64v'))}({name}, {what})")
        return
    b = w.buffer()
    call = w.pick(("iv", "uiv", "i64v", "ui64v"))
    w.say(f"gl.get_query_buffer_object{call}({name}, {b.name}, {what}, {w.offset(b.size)})")


@step(1)
def timestamp(w: Writer) -> None:
    name = w.fresh("q")
    w.say(f"{name} = gl.create_queries(GL.TIMESTAMP, 1)[0]; gl.query_counter({name}, GL.TIMESTAMP)")
    w.queries.append((name, "GL.TIMESTAMP"))


@step(1)
def condition(w: Writer) -> None:
    if w.conditional:
        w.say("gl.end_conditional_render()")
        w.conditional = False
    elif w.queries:
        mode = w.pick(t.names("QUERY_WAIT QUERY_NO_WAIT QUERY_BY_REGION_WAIT QUERY_WAIT_INVERTED"))
        w.say(f"gl.begin_conditional_render({w.r.choice(w.queries)[0]}, {mode})")
        w.conditional = True


def begin_feedback(w: Writer) -> None:
    """With buffers that may be too small, in an object of its own."""
    if w.often(0.6) or not w.feedbacks:
        name = w.fresh("x")
        w.say(f"{name} = gl.create_transform_feedbacks(1)[0]")
        w.feedbacks.append(name)
    w.say(f"gl.bind_transform_feedback(GL.TRANSFORM_FEEDBACK, {w.pick((*w.feedbacks, '0'))})")
    for index in range(4):
        b = w.buffer()
        if w.often(0.5):
            w.say(f"gl.bind_buffer_base(GL.TRANSFORM_FEEDBACK_BUFFER, {index}, {b.name})")
        else:
            offset = w.offset(b.size)
            length = w.length(b.size, offset) // 4 * 4
            place = f"{b.name}, {offset}, {length}"
            w.say(f"gl.bind_buffer_range(GL.TRANSFORM_FEEDBACK_BUFFER, {index}, {place})")
    w.say(f"gl.begin_transform_feedback({_primitive(w)})")
    w.capturing = True


def _primitive(w: Writer) -> str:
    """What the program puts out."""
    program = w.used.program if w.used is not None else None
    if program is not None:
        geometry, evaluation = (program.sources.get(s) for s in ("GEOMETRY", "TESS_EVALUATION"))
        for text, primitive in _PRIMITIVES.items():
            if geometry is not None and f"layout({text}, max_vertices" in geometry:
                return f"GL.{primitive}"
        if geometry is None and evaluation is not None:
            points, lines = "point_mode" in evaluation, "isolines" in evaluation
            return f"GL.{'POINTS' if points else 'LINES' if lines else 'TRIANGLES'}"
    return w.pick(t.names("POINTS LINES TRIANGLES TRIANGLES TRIANGLES"))


@step(3)
def feedback(w: Writer) -> None:
    if not w.capturing:
        able = [p for p in w.programs if p.program.captured and not p.pipeline]
        if able and w.often(0.9):
            w.used = w.r.choice(able)
            w.say(f"gl.use_program({w.used.name})")
        begin_feedback(w)
        return
    kind = w.r.randrange(4)
    if kind == 0:
        w.say("gl.pause_transform_feedback()")
    elif kind == 1:
        w.say("gl.resume_transform_feedback()")
    else:
        w.say("gl.end_transform_feedback()")
        w.capturing = False


@step(1)
def fence(w: Writer) -> None:
    if not w.syncs or w.often(0.4):
        name = w.fresh("y")
        w.say(f"{name} = gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)")
        w.syncs.append(name)
    name = w.pick(w.syncs)
    w.say(
        w.pick(
            (
                f"gl.client_wait_sync({name}, GL.SYNC_FLUSH_COMMANDS_BIT, 1000)",
                f"gl.wait_sync({name}, 0, GL.TIMEOUT_IGNORED)",
                f"gl.delete_sync({name})",
            )
        )
    )


@step(1)
def deleted(w: Writer) -> None:
    """Queries and feedback objects, even those under way."""
    if w.queries and w.often(0.5):
        w.say(f"gl.delete_queries(1, np.array([{w.r.choice(w.queries)[0]}], 'u4'))")
    elif w.feedbacks:
        w.say(f"gl.delete_transform_feedbacks(1, np.array([{w.pick(w.feedbacks)}], 'u4'))")
