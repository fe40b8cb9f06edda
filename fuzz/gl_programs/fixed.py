"""Programs without shaders: lights, materials, texture environments, coordinates that are made,
fog, matrices, lists, raster positions.

Numbers are as exact as in the other programs where coverage depends on them. Colours come from sums
that round in many places, so textures are smooth and filtered: where a coordinate is a little off,
so is the colour, and no more.
"""

from __future__ import annotations

import re

from fuzz.gl_programs.common import UNITS
from fuzz.gl_programs.kind import Kind
from fuzz.gl_programs.writer import WHOLE_VIEW, Writer

__all__ = ["FIXED", "generate_fixed"]

FIXED: Kind[Writer] = Kind(("fixed",))
"""programs without shaders"""
step = FIXED.step


def generate_fixed(w: Writer, steps: int) -> None:
    """A program: some state, then draws between which it changes."""
    w.say(
        f"gl.clear_color({w.quarters()})",
        f"target = w.target([GL.{w.choice('RGBA8', 'RGBA8', 'RGB8', 'RGBA16F')}], "
        f"GL.{w.choice('DEPTH24_STENCIL8', 'DEPTH_COMPONENT24')})",
    )
    w.say("gl.enable(GL.TEXTURE_CUBE_MAP_SEAMLESS); old.initial_current()")
    for _ in range(6):
        w.say(FIXED.change(w))
    FIXED.walk(w, w, steps)
    w.say("see.color(0)", "see.depth()")


_FACES = ("FRONT", "BACK", "FRONT_AND_BACK")
_MATERIAL_COLORS = ("AMBIENT", "DIFFUSE", "SPECULAR", "EMISSION", "AMBIENT_AND_DIFFUSE")
_TARGETS = ("TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP", "TEXTURE_RECTANGLE")
_BASES = ("ALPHA8", "LUMINANCE8", "LUMINANCE8_ALPHA8", "INTENSITY8", "RGB8", "RGBA8", "RGBA4",
          "R8", "RG8", "SRGB8_ALPHA8")  # fmt: skip


@step(3)
def new_texture(w: Writer) -> None:
    """A texture, bound to a unit which is switched on."""
    target, format = w.r.choice(("TEXTURE_2D", *_TARGETS)), w.pick(_BASES)
    name, wrap = w.fresh("texture"), w.pick(("REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_EDGE"))
    if target == "TEXTURE_RECTANGLE":
        wrap = "GL.CLAMP_TO_EDGE"
    w.say(
        f"{name} = old.smooth(GL.{target}, {format}, {w.seed()}, {wrap})",
        f"gl.active_texture(GL.TEXTURE{w.number(UNITS)}); gl.bind_texture(GL.{target}, {name}); "
        f"gl.enable(GL.{target}); gl.active_texture(GL.TEXTURE0)",
    )


@step(14)
def one_setting(w: Writer) -> None:
    w.say(FIXED.change(w))


# -- draws -----------------------------------------------------------------------------------------


def _corner(w: Writer) -> list[str]:
    """What may be said of a vertex before its position; all four coordinates of a texture, for Mesa
    forgets the last one of corners before the first that has three."""
    calls = []
    if w.often(0.5):
        calls.append(f"gl.color4f({w.quarters()})")
    if w.often(0.5):
        calls.append(f"gl.normal3f({w.direction()})")
    if w.often(0.4):
        calls.append(f"gl.multi_tex_coord4f(GL.TEXTURE{w.number(UNITS)}, {w.place()}, 1.0)")
    if w.often(0.1):
        calls.append(f"gl.multi_tex_coord4f(GL.TEXTURE{w.number(UNITS)}, {w.place()}, 2.0)")
    if w.often(0.2):
        calls.append(f"gl.secondary_color3f({w.quarters(3)})")
    if w.often(0.2):
        calls.append(f"gl.fog_coordf({w.quarter()})")
    if w.often(0.1):
        calls.append(
            f"gl.materialfv({w.pick(_FACES)}, {w.pick(_MATERIAL_COLORS)}, old.f({w.quarters()}))"
        )
    return calls


def _rectangle(w: Writer) -> list[tuple[float, float]]:
    x, y = w.data.randrange(-16, 9) / 16, w.data.randrange(-16, 9) / 16
    u, v = x + w.data.randrange(2, 16) / 16, y + w.data.randrange(2, 16) / 16
    return [(x, y), (u, y), (u, v), (x, v)]


def _between(w: Writer) -> list[str]:
    """glBegin to glEnd."""
    mode = w.r.choice(("QUADS", "TRIANGLES", "TRIANGLE_FAN", "POLYGON", "QUAD_STRIP", "POINTS"))
    corners = _rectangle(w)
    if mode == "QUAD_STRIP":
        corners = [corners[0], corners[1], corners[3], corners[2]]
    elif mode == "TRIANGLES":
        corners = corners[:3]
    elif mode == "POINTS":
        corners = [(x + 1 / 64, y + 1 / 64) for x, y in corners]
    depth = w.sixteenths(7) * 2
    calls = [f"gl.begin(GL.{mode})"]
    for number, (x, y) in enumerate(corners):
        # What differs between corners depends on how Mesa cuts quads, in which there are two ways.
        said = _corner(w) if number == 0 or "QUAD" not in mode else []
        calls += [*said, f"gl.vertex3f({x}, {y}, {depth})"]
    # llvmpipe replaces coordinates of triangles, too.
    before = [WHOLE_VIEW if mode == "POINTS" else "gl.disable(GL.POINT_SPRITE)"]
    if any("gl.material" in call for call in calls):
        before.append("gl.disable(GL.COLOR_MATERIAL)")  # Mesa sets what follows the colour, too
    return [*before, *calls, "gl.end()"]


def _drawn(w: Writer, calls: list[str]) -> None:
    w.draws += 1
    w.say("; ".join(["see.blended()", *calls]))


@step(8)
def immediate(w: Writer) -> None:
    _drawn(w, _between(w))


@step(3)
def listed(w: Writer) -> None:
    """Primitives from a list with settings in it, which stay as the list left them. (Current values
    do not: what Mesa takes for the colour behind a list is sometimes from before it.)"""
    name, kind = w.fresh("list"), w.pick(("COMPILE", "COMPILE_AND_EXECUTE"))
    inside = [FIXED.change(w) for _ in range(w.number(3))]
    w.draws += 2
    calls = "; ".join([*inside, *_between(w)])
    w.say(
        f"see.blended(); {name} = gl.gen_lists(1); gl.new_list({name}, {kind}); {calls}; "
        f"gl.end_list(); old.initial_current()"
    )
    again = w.choice(
        f"gl.call_list({name})", f"gl.call_lists(1, GL.UNSIGNED_INT, np.array([{name}], 'u4'))"
    )
    w.say(f"see.blended(); {again}; old.initial_current()")
    w.say(f"gl.delete_lists({name}, 1)")


@step(4)
def arrays(w: Writer) -> None:
    """Arrays of the fixed attributes, in a buffer or in the application's memory."""
    count = w.r.choice([3, 6])
    data = f"w.{'quad' if count == 6 else 'vertices'}({w.seed()}{'' if count == 6 else ', 3'})"
    name, client = w.fresh("data"), w.often(0.3)
    calls = [f"{name} = {data}"]
    at: list[str] = []
    if client:
        calls.append("gl.bind_buffer(GL.ARRAY_BUFFER, 0)")
        at = [f"{name}.reshape(-1)[{offset}:]" for offset in (0, 4, 8)]
    else:
        calls.append(f"gl.bind_buffer(GL.ARRAY_BUFFER, w.storage({name}))")
        at = ["0", "16", "32"]
    calls += [f"gl.vertex_pointer(4, GL.FLOAT, 40, {at[0]})",
              "gl.enable_client_state(GL.VERTEX_ARRAY)"]  # fmt: skip
    for often, kind, call in (
        (0.7, "COLOR_ARRAY", f"gl.color_pointer({w.choice(3, 4)}, GL.FLOAT, 40, {at[1]})"),
        (0.4, "NORMAL_ARRAY", f"gl.normal_pointer(GL.FLOAT, 40, {at[1]})"),
        (0.3, "SECONDARY_COLOR_ARRAY", f"gl.secondary_color_pointer(3, GL.FLOAT, 40, {at[1]})"),
        (0.3, "FOG_COORD_ARRAY", f"gl.fog_coord_pointer(GL.FLOAT, 40, {at[1]})"),
    ):
        if w.often(often):
            calls += [call, f"gl.enable_client_state(GL.{kind})"]
    for unit in range(UNITS):
        if w.often(0.4):
            calls += [
                f"gl.client_active_texture(GL.TEXTURE{unit})",
                f"gl.tex_coord_pointer(2, GL.FLOAT, 40, {at[2]})",
                "gl.enable_client_state(GL.TEXTURE_COORD_ARRAY)",
            ]
    kind = w.number(3)
    if kind == 0:
        calls.append(f"gl.draw_arrays(GL.TRIANGLES, 0, {count})")
    elif kind == 1:
        calls.append("gl.begin(GL.TRIANGLES)")
        calls += [f"gl.array_element({i})" for i in range(count)]
        calls.append("gl.end()")
    else:
        indices = "np.array([2, 1, 0], 'u2')"
        calls.append(f"gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_SHORT, {indices})")
    before = ["gl.disable(GL.POINT_SPRITE)", "gl.push_client_attrib(GL.CLIENT_ALL_ATTRIB_BITS)"]
    # Mesa may draw with current values it had before, unless it is asked for them.
    before.append("gl.get_floatv(GL.CURRENT_TEXTURE_COORDS)")
    _drawn(w, [*before, *calls, "gl.pop_client_attrib()", "old.initial_current()"])


@step(2)
def stacked(w: Writer) -> None:
    """Settings that last for one draw; but Mesa draws on with a sum that was switched, with where
    fog comes from, and with planes that were set."""
    bits = w.choice(
        "GL.ALL_ATTRIB_BITS",
        "GL.LIGHTING_BIT | GL.ENABLE_BIT",
        "GL.TEXTURE_BIT | GL.TRANSFORM_BIT",
        "GL.FOG_BIT | GL.POLYGON_BIT | GL.CURRENT_BIT",
        "GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT",
    )
    inside = [FIXED.change(w) for _ in range(1 + w.number(3))]
    stays = re.compile(r"COLOR_SUM|FOG_COORD_SRC|gl\.clip_plane\(")
    inside = [line for line in inside if not stays.search(line)]
    before = "gl.push_matrix(); " if w.often(0.4) else ""
    after = "; gl.pop_matrix()" if before else ""
    _drawn(w, [f"{before}gl.push_attrib({bits})", *inside, *_between(w), f"gl.pop_attrib(){after}"])


@step(1)
def rectangle(w: Writer) -> None:
    (x, y), _, (u, v), _ = _rectangle(w)
    _drawn(w, [f"gl.disable(GL.POINT_SPRITE); gl.rectf({x}, {y}, {u}, {v})"])


@step(2)
def raster(w: Writer) -> None:
    """Pixels and bits at a raster position, between the centres of pixels.

    llvmpipe gives them no fog and no second colour, and coordinates of textures that are not those
    of the raster position.
    """
    x, y = w.data.randrange(-14, 9) / 16 + 1 / 64, w.data.randrange(-14, 9) / 16 + 1 / 64
    calls = [
        "gl.disable(GL.FOG); gl.disable(GL.COLOR_SUM); gl.disable(GL.POINT_SPRITE)",
        "gl.light_modeli(GL.LIGHT_MODEL_COLOR_CONTROL, GL.SINGLE_COLOR); old.untextured(0)",
        *_corner(w),
        f"gl.raster_pos3f({x}, {y}, {w.sixteenths(7) * 2})",
    ]
    kind = w.number(3)
    if kind == 0:
        # The second beside the first: Mesa gathers bits, and draws those that overlap once.
        calls.append(f"gl.bitmap(16, 8, 0.0, 0.0, 17.0, 1.0, w.bytes({w.seed()}, 32))")
        calls.append(f"gl.bitmap(8, 8, 0.0, 2.0, 0.0, 0.0, w.bytes({w.seed()}, 32))")
    elif kind == 1:
        zoom = f"{w.choice(1.0, 2.0, -1.0)}, {w.choice(1.0, 2.0, -1.0)}"
        calls.append(f"gl.pixel_zoom({zoom})")
        calls.append(f"gl.draw_pixels(6, 5, GL.RGBA, GL.UNSIGNED_BYTE, w.texels({w.seed()}, 6, 5))")
        calls.append("gl.pixel_zoom(1.0, 1.0)")
    else:
        calls.append(f"gl.copy_pixels({w.number(10)}, {w.number(10)}, 7, 6, GL.COLOR)")
    _drawn(w, calls)


@step(1)
def look(w: Writer) -> None:
    w.say("see.color(0)")
