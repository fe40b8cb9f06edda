"""Framebuffers: of any images, some of them deleted or changed; cleared, copied, read."""

from __future__ import annotations

from .. import tables as t
from ..writer import Texture, Writer, step
from .textures import new_texture

__all__ = ["new_framebuffer"]

_POINTS = t.names(
    "COLOR_ATTACHMENT0 COLOR_ATTACHMENT0 COLOR_ATTACHMENT1 COLOR_ATTACHMENT2 COLOR_ATTACHMENT3 "
    "DEPTH_ATTACHMENT STENCIL_ATTACHMENT DEPTH_STENCIL_ATTACHMENT"
)
_COLORS = ("RGBA8", "RGBA8", "RGBA16F", "RGBA32F", "R8", "RG16", "RGB10_A2", "R11F_G11F_B10F",
           "SRGB8_ALPHA8", "RGBA8I", "R32UI", "RGBA16UI", "RGB565", "RGBA8_SNORM",
           "RG32F")  # fmt: skip
_DEPTHS = ("DEPTH_COMPONENT16", "DEPTH_COMPONENT24", "DEPTH_COMPONENT32F", "DEPTH24_STENCIL8",
           "DEPTH32F_STENCIL8", "STENCIL_INDEX8")  # fmt: skip


def _point_of(format: str) -> str:
    if format == "STENCIL_INDEX8":
        return "GL.STENCIL_ATTACHMENT"
    if "STENCIL" in format:
        return "GL.DEPTH_STENCIL_ATTACHMENT"
    return "GL.DEPTH_ATTACHMENT"


def new_framebuffer(w: Writer) -> None:
    """One that is mostly complete, bound."""
    name = w.fresh("f")
    w.framebuffers.append(name)
    w.say(f"{name} = gl.create_framebuffers(1)[0]")
    if w.often(0.08):
        _without_images(w, name)
    else:
        samples = w.r.choice((0, 0, 0, 0, 2, 4, 8))
        layers = 0 if w.often(0.8) else w.r.choice((2, 6))
        colors = w.r.choice((0, 1, 1, 1, 2, 4))
        size = w.r.choice(((32, 32), (32, 32), (16, 40), (7, 5), (64, 1)))
        points = [f"GL.COLOR_ATTACHMENT{k}" for k in range(colors)]
        for point in points:
            _attach_new(w, name, point, w.r.choice(_COLORS), size, samples, layers)
        if w.often(0.5):
            depth = w.r.choice(_DEPTHS)
            _attach_new(w, name, _point_of(depth), depth, size, samples, layers)
        w.say(
            f"gl.named_framebuffer_draw_buffers({name}, {colors}, np.array([{', '.join(points)}], "
            "'u4'))"
        )
    w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {name})")
    w.drawn = name
    _cleared(w)


def _without_images(w: Writer, name: str) -> None:
    for what in ("WIDTH", "HEIGHT", "LAYERS", "SAMPLES"):
        value = (
            w.r.choice((0, 1, 4, 32, 32)) if what in ("LAYERS", "SAMPLES") else w.r.choice((16, 32))
        )
        w.say(f"gl.named_framebuffer_parameteri({name}, GL.FRAMEBUFFER_DEFAULT_{what}, {value})")


def _attach_new(
    w: Writer, name: str, point: str, format: str, size: tuple[int, int], samples: int, layers: int
) -> None:
    """Attaches an image made for it."""
    extents = f"{size[0]}, {size[1]}"
    if not layers and w.often(0.3):
        buffer = w.fresh("r")
        w.renderbuffers.append(buffer)
        w.say(
            f"{buffer} = gl.create_renderbuffers(1)[0]; gl.named_renderbuffer_storage_multisample("
            f"{buffer}, {samples}, GL.{format}, {extents})",
            f"gl.named_framebuffer_renderbuffer({name}, {point}, GL.RENDERBUFFER, {buffer})",
        )
        return
    kind = "TEXTURE_2D_MULTISAMPLE" if samples else "TEXTURE_2D"
    texture = Texture(w.fresh("t"), kind + ("_ARRAY" if layers else ""), format, 1, samples)
    w.textures.append(texture)
    extents += f", {layers}" if layers else ""
    call = f"texture_storage{3 if layers else 2}d" + ("_multisample" if samples else "")
    first = f"{samples or 1}, GL.{format}, {extents}" + (", 1" if samples else "")
    w.say(
        f"{texture.name} = gl.create_textures({texture.bind_target}, 1)[0]; "
        f"gl.{call}({texture.name}, {first})"
    )
    if layers and w.often(0.4):
        w.say(f"gl.named_framebuffer_texture_layer({name}, {point}, {texture.name}, 0, "
              f"{w.r.randrange(layers)})")  # fmt: skip
    else:
        w.say(f"gl.named_framebuffer_texture({name}, {point}, {texture.name}, 0)")


@step(3)
def another(w: Writer) -> None:
    new_framebuffer(w)


@step(4)
def bound(w: Writer) -> None:
    target = w.pick(t.names("FRAMEBUFFER FRAMEBUFFER DRAW_FRAMEBUFFER READ_FRAMEBUFFER"))
    name = w.pick(w.framebuffers) if w.framebuffers and w.often(0.85) else "0"
    w.say(f"gl.bind_framebuffer({target}, {name})")
    if "READ" not in target:
        w.drawn = name


@step(3)
def attached(w: Writer) -> None:
    """Any image at any point."""
    if not w.framebuffers:
        return
    name, point = w.pick(w.framebuffers), w.pick(_POINTS)
    w.spoiled.add(name)
    if w.renderbuffers and w.often(0.2):
        w.say(
            f"gl.named_framebuffer_renderbuffer({name}, {point}, GL.RENDERBUFFER, "
            f"{w.pick(w.renderbuffers)})"
        )
        return
    made = w.texture() or new_texture(w)
    level = w.small(made.levels)
    if w.often(0.4):
        layer = w.small(6)
        w.say(f"gl.named_framebuffer_texture_layer({name}, {point}, {made.name}, {level}, {layer})")
    else:
        which = made.name if w.often(0.9) else 0
        w.say(f"gl.named_framebuffer_texture({name}, {point}, {which}, {level})")


@step(1)
def stored_again(w: Writer) -> None:
    """A renderbuffer, which may be attached, becomes another one."""
    if w.renderbuffers:
        size = ", ".join(str(w.r.choice((1, 4, 32, 32, 33, 0))) for _ in range(2))
        format, samples = w.r.choice((*_COLORS, *_DEPTHS)), w.r.choice((0, 0, 2, 4, 16))
        w.spoiled.update(w.framebuffers)
        w.say(
            f"gl.named_renderbuffer_storage_multisample({w.pick(w.renderbuffers)}, {samples}, "
            f"GL.{format}, {size})"
        )


@step(2)
def other_buffers(w: Writer) -> None:
    """To draw to and to read from."""
    known = t.names("NONE COLOR_ATTACHMENT0 COLOR_ATTACHMENT1 COLOR_ATTACHMENT2 COLOR_ATTACHMENT3")
    if w.often(0.5):
        w.say(f"gl.read_buffer({w.pick((*known, 'GL.BACK'))})")
        return
    some = ", ".join(w.pick(known) for _ in range(w.r.randrange(1, 5)))
    w.say(f"gl.draw_buffers({some.count(',') + 1}, np.array([{some}], 'u4'))")


def _cleared(w: Writer) -> None:
    bits = w.pick(
        ("GL.COLOR_BUFFER_BIT", "GL.DEPTH_BUFFER_BIT|GL.STENCIL_BUFFER_BIT",
         "GL.COLOR_BUFFER_BIT|GL.DEPTH_BUFFER_BIT|GL.STENCIL_BUFFER_BIT")
    )  # fmt: skip
    w.say(f"gl.clear({bits})")


@step(3)
def cleared(w: Writer) -> None:
    kind = w.r.randrange(5)
    if kind == 0:
        _cleared(w)
    elif kind == 1:
        call = w.pick(("fv(GL.COLOR, {}, h.floats({}, 4))", "iv(GL.COLOR, {}, h.ints({}, 4))",
                       "uiv(GL.COLOR, {}, h.ints({}, 4).view('u4'))"))  # fmt: skip
        w.say("gl.clear_buffer" + call.format(w.small(4), w.seed()))
    elif kind == 2:
        w.say(f"gl.clear_bufferfi(GL.DEPTH_STENCIL, 0, {w.real()}, {w.small(255)})")
    elif kind == 3:
        w.say(f"gl.clear_bufferfv(GL.DEPTH, 0, h.floats({w.seed()}, 1))")
    else:
        w.say(f"gl.clear_color({w.reals(4)}); gl.clear_depth({w.real()}); "
              f"gl.clear_stencil({w.small(255)})")  # fmt: skip


def _edges(w: Writer) -> str:
    """The corners of a rectangle: turned, beyond the picture, empty."""
    plain = (0, 0, 32, 32)
    if w.often(0.4):
        return ", ".join(map(str, plain))
    return ", ".join(str(w.r.choice((0, 0, 1, 7, 16, 32, 32, 40, -5, w.wild()))) for _ in range(4))


@step(3)
def copied(w: Writer) -> None:
    mask = w.pick(("GL.COLOR_BUFFER_BIT", "GL.COLOR_BUFFER_BIT", "GL.DEPTH_BUFFER_BIT",
                   "GL.STENCIL_BUFFER_BIT", "GL.COLOR_BUFFER_BIT|GL.DEPTH_BUFFER_BIT"))  # fmt: skip
    filter = w.pick(t.names("NEAREST NEAREST LINEAR SCALED_RESOLVE_FASTEST_EXT"))
    one, two = _edges(w), _edges(w)
    if w.framebuffers:
        names = [w.pick(w.framebuffers) if w.often(0.8) else "0" for _ in range(2)]
        w.say(f"gl.blit_named_framebuffer({names[0]}, {names[1]}, {one}, {two}, {mask}, {filter})")


@step(4)
def read(w: Writer) -> None:
    x, y = (w.r.choice((0, 0, 1, 31, -3, 100)) for _ in range(2))
    width, height = (w.r.choice((0, 1, 2, 4, 32, 33)) for _ in range(2))
    if w.often(0.03):
        x, y = w.wild(), w.wild()
    format, type_ = w.pick(
        (
            "GL.RGBA, GL.UNSIGNED_BYTE",
            "GL.RGBA, GL.FLOAT",
            "GL.RGBA_INTEGER, GL.INT",
            "GL.DEPTH_COMPONENT, GL.FLOAT",
            "GL.STENCIL_INDEX, GL.UNSIGNED_BYTE",
            f"{w.pick(t.PIXEL_FORMATS)}, {w.pick(t.PIXEL_TYPES)}",
        )
    ).split(", ")
    area = f"{x}, {y}, {width}, {height}, {format}, {type_}"
    if w.often(0.25):
        b = w.buffer()
        w.say(
            f"gl.bind_buffer(GL.PIXEL_PACK_BUFFER, {b.name}); gl.read_pixels({area}, "
            f"{w.offset(b.size)}); gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)"
        )
    else:
        w.say(f"gl.read_pixels({area})")


@step(1)
def invalidated(w: Writer) -> None:
    points = ", ".join(w.pick(_POINTS) for _ in range(2))
    if w.often(0.5):
        w.say(f"gl.invalidate_framebuffer(GL.FRAMEBUFFER, 2, np.array([{points}], 'u4'))")
    else:
        w.say(f"gl.invalidate_sub_framebuffer(GL.FRAMEBUFFER, 2, np.array([{points}], 'u4'), "
              f"{_edges(w)})")  # fmt: skip


@step(1)
def deleted(w: Writer) -> None:
    if len(w.framebuffers) > 1 and w.often(0.6):
        name = w.pick(w.framebuffers)
        w.framebuffers.remove(name)
        w.say(f"gl.delete_framebuffers(1, np.array([{name}], 'u4'))")
        w.drawn = w.pick(w.framebuffers)
        w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {w.drawn})")
    elif w.renderbuffers:
        name = w.pick(w.renderbuffers)
        w.renderbuffers.remove(name)
        w.say(f"gl.delete_renderbuffers(1, np.array([{name}], 'u4'))")
