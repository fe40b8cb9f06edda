"""What a draw answers beside pixels: queries, conditional rendering, captured vertices."""

from __future__ import annotations

from fuzz.gl_programs.steps import drawing
from fuzz.gl_programs.writer import PLAIN, WHOLE_VIEW, Writer

COUNTED = ["SAMPLES_PASSED", "ANY_SAMPLES_PASSED", "PRIMITIVES_GENERATED"]


@PLAIN.step(2)
def query(w: Writer) -> None:
    name, what = w.fresh("query"), w.pick(COUNTED)
    w.say(f"{name} = w.query()", f"gl.begin_query({what}, {name})")
    for _ in range(1 + w.number(2)):
        drawing.draw(w)
    w.say(f"gl.end_query({what})")
    if what != "GL.PRIMITIVES_GENERATED" and w.often(0.3):
        w.say(f"gl.begin_conditional_render({name}, GL.QUERY_WAIT)")
        drawing.draw(w)
        w.say("gl.end_conditional_render()")
    if w.often(0.5):
        w.say(f"see.query({name})")
    else:
        w.queries.append(name)


@PLAIN.step(2)
def feedback(w: Writer) -> None:
    """Vertices captured into a buffer, with a query about them."""
    capturing = [p for p in w.programs if p.capture]
    if not capturing:
        return
    w.use(w.r.choice(capturing))
    name, size = w.fresh("captured"), w.r.choice([96, 256, 1024])
    offset = w.r.choice([0, 0, 16])
    mode = w.r.choice(["GL.TRIANGLES", "GL.TRIANGLES", "GL.POINTS"])
    calls = w.defined()
    if mode == "GL.POINTS":
        calls.append(WHOLE_VIEW)
    calls.append(f"gl.begin_transform_feedback({mode})")
    count = w.array.vertices
    for number in range(1 + w.number(2)):
        if number and w.often(0.5):
            calls += ["gl.pause_transform_feedback()", "see.blended()"]
            calls += ["gl.draw_arrays(GL.TRIANGLES, 0, 3)", "gl.resume_transform_feedback()"]
        calls += ["see.blended()", f"gl.draw_arrays({mode}, 0, {count})"]
    # On one line: the reducer takes lines away, and nothing else may happen in between.
    w.say(
        f"{name} = w.captured({size}, {offset})",
        "; ".join([*calls, "gl.end_transform_feedback()"]),
        f"see.captured({name}, {size})",
    )
    if w.often(0.3):
        w.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")
