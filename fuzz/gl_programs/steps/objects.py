"""Objects: made, changed, bound again, deleted between draws."""

from __future__ import annotations

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.common import SIZE
from fuzz.gl_programs.writer import PLAIN, Array, Program, Target, Texture, Writer


@PLAIN.step(2)
def new_program(w: Writer) -> None:
    pairs = [("plain", f) for f in ("color", "textured", "fetched", "discarding", "facing")]
    if w.unfilled:
        pairs.remove(("plain", "facing"))
    pairs += [("plain", f) for f in ("deep", "two", "dual", "sampled", "shadowed", "layered")]
    pairs += [("flat", "flat"), ("clipped", "color"), ("instanced", "color")]
    pairs += [("instanced", "textured"), ("blocks", "color"), ("blocks", "block")]
    if w.target.kind != "f" or w.often(0.05):
        pairs = [("plain", "signed"), ("plain", "unsigned")]
    elif not w.core:
        pairs += [("old", "old")] * 3
    if w.es:  # two outputs need locations there, clip distances and second colours extensions
        pairs = [p for p in pairs if not {"two", "dual", "clipped"} & {*p}]
    vertex, fragment = w.r.choice(pairs)
    capture = vertex != "old" and w.often(0.25)
    program = Program(w.fresh("program"), vertex, fragment, capture)
    extra = ", True" if capture else ""
    w.say(f"{program.name} = w.program({vertex!r}, {fragment!r}{extra})")
    w.programs.append(program)
    w.use(program)
    w.say(f"w.uniform({program.name}, 'tint', {w.quarters()})")


@PLAIN.step(1)
def new_buffer(w: Writer) -> None:
    name, count = w.fresh("buffer"), w.r.choice([3, 6, 9, 12, 24])
    what = f"w.vertices({w.seed()}, {count})"
    if w.often(0.5):
        what, count = f"w.quad({w.seed()})", 6
    w.say(
        f"{name} = w.buffer()",
        f"gl.bind_buffer(GL.ARRAY_BUFFER, {name})",
        f"gl.buffer_data(GL.ARRAY_BUFFER, {count * 40}, {what}, GL.STATIC_DRAW)",
    )
    w.buffers.append((name, count))


@PLAIN.step(1)
def new_array(w: Writer) -> None:
    buffer, count = w.r.choice(w.buffers)
    w.bound_array = Array(w.fresh("array"), count, buffer)
    lines = [f"{w.array.name} = w.array({buffer})"]
    w.arrays.append(w.array)
    if w.often(0.3):
        lines.append(f"gl.vertex_attrib_pointer(1, {w.r.choice(t.COLORS_AS)})")
    if w.often(0.1):
        lines.append(f"gl.vertex_attrib_divisor(1, {w.choice(1, 2)})")
    if w.often(0.1):
        lines.append(f"gl.disable_vertex_attrib_array(1); gl.vertex_attrib4f(1, {w.quarters()})")
    w.say("; ".join(lines))


@PLAIN.step(3)
def new_texture(w: Writer) -> None:
    name, seed = w.fresh("texture"), w.seed()
    size, levels = w.r.choice([(8, 1), (8, 4), (4, 1), (16, 5), (8, 2)])
    kind = w.r.choice(["2d"] * 6 + ["array", "shadow"])
    if kind == "array":
        w.say(f"{name} = w.layers({w.pick(t.TEXTURE_FORMATS)}, {seed}, {size}, 3)")
        made = Texture(name, "TEXTURE_2D_ARRAY", None, size, kind=kind)
    elif kind == "shadow":
        format, compare = w.pick(t.DEPTH_FORMATS), w.pick(t.COMPARES)
        w.say(f"{name} = w.depths({format}, {seed}, {size}, {compare})")
        made = Texture(name, "TEXTURE_2D", None, size, kind=kind)
    else:
        format = w.pick(t.TEXTURE_FORMATS)
        w.say(f"{name} = w.texture({format}, {seed}, {size}, {levels})")
        made = Texture(name, "TEXTURE_2D", None, size, levels, format=format.removeprefix("GL."))
        if w.often(0.4):
            smaller = w.pick(t.MINIFYING)
            w.say(f"gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, {smaller})")
    w.bound_texture = made
    w.textures.append(made)


@PLAIN.step(1)
def new_target(w: Writer) -> None:
    samples = 0 if w.unfilled else w.r.choice([0, 0, 0, 4])
    textures = not samples and w.often(0.4)
    kind = "f"
    known = [f for f in t.COLOR_FORMATS if w.floats or not f.endswith("F")]
    if w.often(0.12) and not samples:
        kind = w.r.choice("iu")
        known = [f for f, its in t.INTEGER_FORMATS.items() if its == kind]
    formats = [w.r.choice(known) for _ in range(w.r.choice([1, 1, 1, 2]))]
    depth = w.r.choice(["", *t.DEPTH_FORMATS])
    made = Target(w.fresh("target"), formats, kind, depth, samples, textures)
    w.say(f"gl.clear_color({w.quarters()})")
    named = ", ".join("GL." + f for f in formats)
    text = f"GL.{depth}" if depth else "None"
    w.say(f"{made.name} = w.target([{named}], {text}, {samples}, {textures})")
    w.bound_target = made
    w.targets.append(made)
    if textures and kind == "f":
        name = w.fresh("texture")
        picture = f"{made.name}, {w.number(len(formats))}"
        w.say(f"{name} = w.drawn({picture})", f"see.sampled({picture})")
        w.textures.append(Texture(name, of=made, size=SIZE))


def _wrap(w: Writer) -> str:
    """A wrap mode; in ES most textures are incomplete, which on llvmpipe have borders, too."""
    return w.pick([one for one in t.WRAPS if not (w.es and one == "CLAMP_TO_BORDER")])


@PLAIN.step(1)
def new_sampler(w: Writer) -> None:
    name = w.fresh("sampler")
    w.say(f"{name} = w.sampler()")
    for axis in "ST":
        w.say(f"gl.sampler_parameteri({name}, GL.TEXTURE_WRAP_{axis}, {_wrap(w)})")
    w.say(
        f"gl.sampler_parameteri({name}, GL.TEXTURE_MIN_FILTER, {w.pick(t.MINIFYING[:2])})",
        f"gl.sampler_parameteri({name}, GL.TEXTURE_MAG_FILTER, GL.NEAREST)",
        f"gl.bind_sampler(0, {name})",
    )
    w.samplers.append(name)


@PLAIN.step(2)
def change_sampler(w: Writer) -> None:
    if w.samplers and w.often(0.6):
        name = w.r.choice(w.samplers)
        w.say(f"gl.sampler_parameteri({name}, GL.TEXTURE_WRAP_S, {_wrap(w)})")
        w.say(f"gl.bind_sampler(0, {name})")
    else:
        w.say("gl.bind_sampler(0, 0)")


@PLAIN.step(6)
def bind(w: Writer) -> None:
    kind = w.number(4)
    if kind == 0:
        w.use(w.r.choice(w.programs))
    elif kind == 1:
        w.bound_array = w.r.choice(w.arrays)
        w.say(f"gl.bind_vertex_array({w.array.name})")
    elif kind == 2:
        w.bound_target = w.r.choice(w.targets)
        w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {w.target.name})")
    elif w.textures:
        w.bind(w.r.choice(w.textures))


@PLAIN.step(4)
def change_texture(w: Writer) -> None:
    usable = [x for x in w.textures if x.of is None and x.kind != "shadow"]
    if not usable:
        return
    texture = w.r.choice(usable)
    w.bind(texture)
    at = f"GL.{texture.target}"
    kind = w.number(6)
    if kind == 0 and texture.target == "TEXTURE_2D":
        x, y = w.number(2), w.number(2)
        w.say(
            f"gl.tex_sub_image2d(GL.TEXTURE_2D, 0, {x}, {y}, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, "
            f"w.texels({w.seed()}, 2, 2))"
        )
    elif kind == 1:
        w.say(
            f"gl.tex_parameteri({at}, GL.TEXTURE_WRAP_{w.choice('S', 'T')}, {_wrap(w)})",
            f"gl.tex_parameterfv({at}, GL.TEXTURE_BORDER_COLOR, np.array([{w.quarters()}], 'f4'))",
        )
    elif kind == 2:
        source = w.pick(["RED", "GREEN", "BLUE", "ALPHA", "ZERO", "ONE"])
        w.say(f"gl.tex_parameteri({at}, GL.TEXTURE_SWIZZLE_{w.r.choice('RGBA')}, {source})")
    else:
        # The base level is never beyond the last: llvmpipe's textureLod reads another one then.
        base, last = 0, texture.levels - 1
        if kind == 3:
            base = w.number(texture.levels)
        elif kind == 5:
            last = w.number(texture.levels)
        w.say(
            f"gl.tex_parameteri({at}, GL.TEXTURE_BASE_LEVEL, {base})",
            f"gl.tex_parameteri({at}, GL.TEXTURE_MAX_LEVEL, {last})",
        )


@PLAIN.step(4)
def change_buffer(w: Writer) -> None:
    (name, count), seed = w.r.choice(w.buffers), w.seed()
    w.say(f"gl.bind_buffer(GL.ARRAY_BUFFER, {name})")
    kind = w.number(6)
    if kind == 0:
        w.say(f"gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 120, w.vertices({seed}, 3))")
    elif kind == 1:
        what = f"w.vertices({seed}, {count})"
        w.say(f"gl.buffer_data(GL.ARRAY_BUFFER, {count * 40}, {what}, GL.DYNAMIC_DRAW)")
    elif kind == 2 and count < 6:
        w.say("gl.copy_buffer_sub_data(GL.ARRAY_BUFFER, GL.ARRAY_BUFFER, 0, 120, 0)")
    elif kind == 2:
        w.say("gl.copy_buffer_sub_data(GL.ARRAY_BUFFER, GL.ARRAY_BUFFER, 120, 0, 120)")
    elif kind == 3:
        what = f"w.vertices({seed}, 3)"
        how = w.choice("", "invalidate", "flush", "unsynchronized")
        w.say(f"w.mapped(GL.ARRAY_BUFFER, {w.choice(0, 0, 40)}, {what}, {how!r})")
    elif kind == 4:
        w.say(f"see.mapping(GL.ARRAY_BUFFER, {w.choice(0, 40)}, 80)")
    else:
        w.say(
            "gl.clear_buffer_sub_data(GL.ARRAY_BUFFER, GL.R32F, 16, 16, GL.RED, GL.FLOAT, "
            f"np.array([{w.quarter()}], 'f4'))"
        )


@PLAIN.step(2)
def delete(w: Writer) -> None:
    kind = w.number(5)
    if kind == 0 and len(w.textures) > 1:
        gone = w.textures.pop(w.number(len(w.textures)))
        w.say(f"gl.delete_textures(1, np.array([{gone.name}], 'u4'))")
        if gone is w.bound_texture:
            w.bound_texture = None
    elif kind == 1 and len(w.programs) > 1:
        program = w.programs.pop(w.number(len(w.programs)))
        w.say(f"w.drop({program.name})")
        if program is w.program:  # it stays in use until another one is
            w.use(w.r.choice(w.programs))
    elif kind == 2 and w.samplers:
        name = w.samplers.pop(w.number(len(w.samplers)))
        w.say(f"gl.delete_samplers(1, np.array([{name}], 'u4'))")
    elif kind == 3 and len(w.arrays) > 1:
        array = w.arrays.pop(w.number(len(w.arrays)))
        w.say(f"gl.delete_vertex_arrays(1, np.array([{array.name}], 'u4'))")
        if array is w.array:
            new_array(w)
    elif len(w.buffers) > 1:
        name, _ = w.buffers.pop(w.number(len(w.buffers)))
        # An array object that is not bound keeps the buffer; the bound one loses it.
        w.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")
        if w.array in w.arrays:
            w.arrays.remove(w.array)
        new_array(w)
