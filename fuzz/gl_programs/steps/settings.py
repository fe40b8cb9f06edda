"""State between draws. Each setting stands beside what puts it back to its initial value."""

from __future__ import annotations

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.size import SIZE
from fuzz.gl_programs.writer import PLAIN, Writer

setting, switch = PLAIN.setting, PLAIN.switch


@PLAIN.step(12)
def state(w: Writer) -> None:
    """One setting of the table."""
    w.say(PLAIN.change(w))


setting(lambda w: f"gl.color_mask({w.flags()})", "gl.color_mask(1, 1, 1, 1)")
setting(lambda w: "gl.color_mask(1, 1, 1, 1)", "gl.color_mask(1, 1, 1, 1)")
setting(lambda w: f"gl.color_maski({w.flag()}, {w.flags()})", "gl.color_mask(1, 1, 1, 1)")
setting(lambda w: f"gl.enablei(GL.BLEND, {w.flag()})", "gl.disable(GL.BLEND)")
switch("CULL_FACE", 0.4)
setting(lambda w: f"gl.cull_face({w.pick(t.SIDES[:2])})", "gl.cull_face(GL.BACK)")
setting(lambda w: f"gl.front_face({w.pick(('CW', 'CCW'))})", "gl.front_face(GL.CCW)")
setting(
    lambda w: (
        f"gl.polygon_mode(GL.FRONT_AND_BACK, {w.pick(t.MODES if w.unfilled else t.MODES[:1])})"
    ),
    "gl.polygon_mode(GL.FRONT_AND_BACK, GL.FILL)",
)
switch("SCISSOR_TEST", 0.5)
setting(
    lambda w: f"gl.scissor({w.number(16)}, {w.number(16)}, {w.number(33)}, {4 + w.number(28)})",
    f"gl.scissor(0, 0, {SIZE}, {SIZE})",
)
setting(
    lambda w: (
        f"gl.viewport({w.choice(0, 0, 8, -8)}, {w.choice(0, 4)}, {w.choice(SIZE, SIZE, 16, 64)}, "
        f"{w.choice(SIZE, SIZE, 16, 64)})"
    ),
    f"gl.viewport(0, 0, {SIZE}, {SIZE})",
)
setting(lambda w: f"gl.viewport(0, 0, {SIZE}, {SIZE})", f"gl.viewport(0, 0, {SIZE}, {SIZE})")
switch("PROGRAM_POINT_SIZE", 0.5)
setting(lambda w: f"gl.point_size({w.choice(1.0, 3.0, 4.0)})", "gl.point_size(1.0)")
setting(
    lambda w: f"gl.provoking_vertex({w.pick(t.PROVOKING)})",
    "gl.provoking_vertex(GL.LAST_VERTEX_CONVENTION)",
)
switch("COLOR_LOGIC_OP", 0.2)
setting(lambda w: f"gl.logic_op({w.pick(t.LOGIC_OPS)})", "gl.logic_op(GL.COPY)")
switch("RASTERIZER_DISCARD", 0.1)
setting(lambda w: "gl.disable(GL.RASTERIZER_DISCARD)", "gl.disable(GL.RASTERIZER_DISCARD)")
switch("CLIP_DISTANCE0", 0.4)
switch("CLIP_DISTANCE1", 0.3)
switch("SAMPLE_MASK", 0.3)
setting(lambda w: f"gl.sample_maski(0, {w.choice(15, 1, 5, 10)})", "gl.sample_maski(0, 0xffffffff)")
setting(
    # Bound again, because llvmpipe's clears do not see it change under a framebuffer.
    lambda w: (
        f"gl.{'enable' if w.often(0.3) else 'disable'}(GL.FRAMEBUFFER_SRGB); "
        f"gl.bind_framebuffer(GL.FRAMEBUFFER, 0); "
        f"gl.bind_framebuffer(GL.FRAMEBUFFER, {w.target.name})"
    ),
    "gl.disable(GL.FRAMEBUFFER_SRGB)",
)
setting(
    lambda w: f"gl.primitive_restart_index({w.choice(0, 2, 255)})", "gl.primitive_restart_index(0)"
)
switch("PRIMITIVE_RESTART", 0.2)
switch("PRIMITIVE_RESTART_FIXED_INDEX", 0.1)
switch("POLYGON_OFFSET_FILL", 0.4)
setting(
    lambda w: f"gl.polygon_offset(0.0, {w.choice(4096.0, -4096.0, 65536.0)})",
    "gl.polygon_offset(0.0, 0.0)",
)
switch("DEPTH_CLAMP", 0.4)
switch("TEXTURE_CUBE_MAP_SEAMLESS", 0.5)
switch("ALPHA_TEST", 0.5, core=False)
setting(
    # At most 1: Mesa clamps what is above only for some formats (tests/state_tracker has them all).
    lambda w: f"gl.alpha_func({w.pick(t.COMPARES)}, {min(w.quarter() + 0.1, 0.95)})",
    "gl.alpha_func(GL.ALWAYS, 0.0)",
    core=False,
)
setting(
    lambda w: f"gl.shade_model({w.pick(('FLAT', 'SMOOTH'))})",
    "gl.shade_model(GL.SMOOTH)",
    core=False,
)
switch("VERTEX_PROGRAM_TWO_SIDE", 0.5, core=False)
setting(
    lambda w: f"gl.clip_plane(GL.CLIP_PLANE0, np.array([1.0, 0.0, 0.0, {w.quarter()}]))",
    "gl.clip_plane(GL.CLIP_PLANE0, np.zeros(4))",
    core=False,
)
setting(
    lambda w: f"gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, {w.pick(t.CLAMPS)})",
    "gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, GL.FIXED_ONLY)",
    core=False,
)
setting(
    lambda w: f"gl.clamp_color(GL.CLAMP_VERTEX_COLOR, {w.pick(t.CLAMPS)})",
    "gl.clamp_color(GL.CLAMP_VERTEX_COLOR, GL.TRUE)",
    core=False,
)
switch("POLYGON_STIPPLE", 0.3, core=False)
setting(
    lambda w: f"gl.polygon_stipple(w.texels({w.seed()}, 8, 4))",
    "gl.polygon_stipple(np.full(128, 255, 'u1'))",
    core=False,
)
setting(
    lambda w: (
        "gl.matrix_mode(GL.MODELVIEW); gl.load_identity(); "
        f"gl.scalef({w.choice(1.0, 0.5)}, 1.0, 1.0)"
    ),
    "gl.matrix_mode(GL.MODELVIEW); gl.load_identity()",
    core=False,
)
switch("LIGHTING", 0.1, core=False)
switch("TEXTURE_2D", 0.3, core=False)


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


PLAIN.resets += [
    "gl.blend_func(GL.ONE, GL.ZERO)",
    "gl.blend_equation(GL.FUNC_ADD)",
    "gl.blend_color(0.0, 0.0, 0.0, 0.0)",
    "gl.disable(GL.DEPTH_TEST)",
    "gl.depth_func(GL.LESS)",
    "gl.depth_mask(1)",
    "gl.depth_range(0, 1)",
    "gl.disable(GL.STENCIL_TEST)",
    "gl.stencil_func(GL.ALWAYS, 0, 255)",
    "gl.stencil_op(GL.KEEP, GL.KEEP, GL.KEEP)",
    "gl.stencil_mask(255)",
]
PLAIN.compat_resets += ["gl.color4f(1.0, 1.0, 1.0, 1.0)"]
