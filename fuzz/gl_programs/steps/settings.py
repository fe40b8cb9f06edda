"""State between draws: rows of `settings.txt`, and what takes several lines."""

from __future__ import annotations

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.writer import PLAIN, Writer


@PLAIN.step(12)
def state(w: Writer) -> None:
    """One setting of the table."""
    w.say(PLAIN.change(w))


@PLAIN.step(5)
def blend(w: Writer) -> None:
    w.switch("BLEND", 0.75)
    dual = w.used is not None and w.used.dual
    factors = [f for f in t.FACTORS if not (w.floats and ("DST" in f or "SATURATE" in f))]
    factors += t.DUAL_FACTORS * 2 if dual else []
    w.dual_factors = dual
    pair = f"{w.pick(factors)}, {w.pick(factors)}"
    kind = w.number(4)
    if kind < 2:
        w.say(f"gl.blend_func({pair})")
    elif kind == 2:
        w.say(f"gl.blend_func_separate({pair}, {w.pick(factors)}, {w.pick(factors)})")
    elif not dual:
        w.say(f"gl.blend_funci({w.flag()}, {pair})")
    if w.often(0.5):
        w.say(f"gl.blend_equation_separate({w.pick(t.EQUATIONS)}, {w.pick(t.EQUATIONS)})")
    if w.often(0.4):
        w.say(f"gl.blend_color({w.quarters()})")


@PLAIN.step(4)
def depth(w: Writer) -> None:
    w.switch("DEPTH_TEST", 0.75)
    w.say(f"gl.depth_func({w.pick(t.COMPARES)})", f"gl.depth_mask({w.flag()})")
    if w.often(0.3):
        near, far = w.r.choice([(0, 1), (0.25, 0.75), (1, 0), (0.75, 0.5)])
        w.say(f"gl.depth_range({near}, {far})")


@PLAIN.step(3)
def stencil(w: Writer) -> None:
    w.switch("STENCIL_TEST", 0.8)
    mask, reference = w.choice(255, 15, 1, 170), w.choice(0, 1, 5, 255)
    w.say(f"gl.stencil_func_separate({w.side()}, {w.pick(t.COMPARES)}, {reference}, {mask})")
    chosen = ", ".join(w.pick(t.STENCIL_OPS) for _ in range(3))
    w.say(f"gl.stencil_op_separate({w.side()}, {chosen})")
    if w.often(0.3):
        w.say(f"gl.stencil_mask_separate({w.side()}, {w.choice(255, 15, 240)})")
