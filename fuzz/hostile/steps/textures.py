"""Textures of all targets and formats: made, filled, copied, looked at differently, deleted."""

from __future__ import annotations

from .. import numbers
from .. import tables as t
from ..writer import Texture, Writer, step
from .buffers import new_buffer

__all__ = ["bind_everywhere", "new_texture"]

EDGES = (1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 17, 33)
_UNITS = 8
_REDUCTIONS = t.names("MIN MAX WEIGHTED_AVERAGE_ARB")


def _format(w: Writer, target: str) -> str:
    """One that most calls with the target take."""
    kind = w.r.random()
    if target == "TEXTURE_BUFFER" or kind < 0.3:
        return w.r.choice([*t.IMAGE_FORMATS])
    if kind < 0.5:
        return w.r.choice(
            ["RGBA8", "DEPTH_COMPONENT24", "DEPTH32F_STENCIL8", "DEPTH24_STENCIL8", "RGBA32F",
             "STENCIL_INDEX8", "DEPTH_COMPONENT16", "SRGB8_ALPHA8", "RGBA16F", "R32UI"]
        )  # fmt: skip
    return w.r.choice([*t.FORMATS])


def _extents(w: Writer, target: str) -> list[int]:
    """Of the first level: as many as the call wants."""
    shape = t.TARGETS[target]
    extents = [w.r.choice(EDGES) for _ in range(shape.sizes)]
    if "CUBE" in target:
        extents[1] = extents[0]
        extents[2:] = [w.r.choice((6, 12))] * (len(extents) - 2)
    if w.often(0.03):
        extents[w.r.randrange(len(extents))] = w.r.choice((0, 300, 2048, w.wild()))
    return extents


def new_texture(w: Writer, target: str = "", format: str = "") -> Texture:
    """A texture with texels, most of the time."""
    target = target or w.r.choice([*t.TARGETS])
    made = Texture(w.fresh("t"), target, format or _format(w, target))
    w.textures.append(made)
    if target == "TEXTURE_BUFFER":
        _of_buffer(w, made)
    elif "MULTISAMPLE" in target:
        _with_samples(w, made)
    elif w.often(0.7):
        _stored(w, made)
    else:
        _of_images(w, made)
    if t.TARGETS[target].plain:
        if w.often(0.5):
            _written(w, made)
        if w.often(0.6):
            _sampled(w, made)
    return made


def _of_buffer(w: Writer, made: Texture) -> None:
    w.say(f"{made.name} = gl.create_textures({made.bind_target}, 1)[0]")
    b = w.buffer() if w.often(0.8) else new_buffer(w)
    if w.often(0.4):
        w.say(f"gl.texture_buffer({made.name}, GL.{made.format}, {b.name})")
        return
    offset = w.offset(b.size, 16)
    length = w.length(b.size, offset)
    w.say(f"gl.texture_buffer_range({made.name}, GL.{made.format}, {b.name}, {offset}, {length})")


def _with_samples(w: Writer, made: Texture) -> None:
    made.samples = w.r.choice((1, 2, 4, 4, 8, 16))
    w.say(f"{made.name} = gl.create_textures({made.bind_target}, 1)[0]")
    extents = ", ".join(map(str, _extents(w, made.target)))
    call = "3d" if "ARRAY" in made.target else "2d"
    w.say(
        f"gl.texture_storage{call}_multisample({made.name}, {made.samples}, GL.{made.format}, "
        f"{extents}, {w.r.randrange(2)})"
    )


def _stored(w: Writer, made: Texture) -> None:
    """Storage for all levels, which stays."""
    extents = _extents(w, made.target)
    made.levels = 1 if "RECT" in made.target else w.r.choice((1, 1, 2, 3, 5, 6))
    w.say(f"{made.name} = gl.create_textures({made.bind_target}, 1)[0]")
    w.say(
        f"gl.texture_storage{len(extents)}d({made.name}, {made.levels}, GL.{made.format}, "
        f"{', '.join(map(str, extents))})"
    )


def _of_images(w: Writer, made: Texture) -> None:
    """Level by level, where some may be missing or of another size."""
    made.fixed = False
    w.say(f"{made.name} = gl.gen_textures(1)[0]; gl.bind_texture({made.bind_target}, {made.name})")
    extents = _extents(w, made.target)
    layered = "ARRAY" in made.target
    for level in range(w.r.choice((1, 2, 4))):
        made.levels = level + 1
        _image(w, made, level, extents)
        last = len(extents) - layered
        extents = [max(1, e >> 1) if k < last else e for k, e in enumerate(extents)]
        if w.often(0.1):
            extents = _extents(w, made.target)
        if w.often(0.1) or "RECT" in made.target:
            break


def _image(w: Writer, made: Texture, level: int, extents: list[int]) -> None:
    info = t.FORMATS[made.format]
    size = ", ".join(map(str, extents))
    format, type_ = t.upload(info)
    if w.often(0.1):
        format, type_ = w.pick(t.PIXEL_FORMATS), w.pick(t.PIXEL_TYPES)
    faces = [made.bind_target]
    if made.target == "TEXTURE_CUBE_MAP":
        faces = [f"GL.TEXTURE_CUBE_MAP_POSITIVE_X + {k}" for k in range(6)]
    data = f"h.data({w.seed()}, {_room(extents)})" if w.often(0.8) else "None"
    for face in faces:
        call = f"tex_image{len(extents)}d"
        w.say(f"gl.{call}({face}, {level}, GL.{made.format}, {size}, 0, {format}, {type_}, {data})")


def _room(extents: list[int]) -> int:
    """Bytes that are enough for any texels."""
    count = 1
    for extent in extents:
        count *= min(max(extent, 1), 2048)
    return min(count * 16 + (1 << 12), 1 << 22)


def _box(w: Writer, made: Texture) -> tuple[str, list[int]]:
    """Offsets and sizes within a level, seldom beyond it."""
    dimensions = t.TARGETS[made.target].sizes + (made.target == "TEXTURE_CUBE_MAP")
    offsets = [w.r.choice((0, 0, 0, 1, 2, 4)) for _ in range(dimensions)]
    sizes = [w.r.choice((1, 1, 2, 4, 4)) for _ in range(dimensions)]
    if w.often(0.05):
        sizes[w.r.randrange(dimensions)] = w.r.choice((0, 100, w.wild()))
    if w.often(0.05):
        offsets[w.r.randrange(dimensions)] = w.r.choice((30, 33, w.wild()))
    return ", ".join(map(str, offsets)) + ", " + ", ".join(map(str, sizes)), sizes


def _written(w: Writer, made: Texture) -> None:
    info = t.FORMATS[made.format]
    box, sizes = _box(w, made)
    level = w.small(made.levels)
    if info.is_compressed:
        stored = info.candidates[0]
        size = stored.row_bytes(max(sizes[0], 1))
        size *= stored.rows(max(sizes[1], 1)) if len(sizes) > 1 else 1
        size *= max(sizes[2], 1) if len(sizes) > 2 else 1
        if size < 1 << 20:
            w.say(
                f"gl.compressed_texture_sub_image{len(sizes)}d({made.name}, {level}, {box}, "
                f"GL.{made.format}, {size}, h.data({w.seed()}, {size}))"
            )
        return
    format, type_ = t.upload(info)
    if w.often(0.15):
        format, type_ = w.pick(t.PIXEL_FORMATS), w.pick(t.PIXEL_TYPES)
    data = f"h.data({w.seed()}, {_room(sizes)})"
    w.say(
        f"gl.texture_sub_image{len(sizes)}d({made.name}, {level}, {box}, {format}, {type_}, {data})"
    )


def _settings(w: Writer) -> list[str]:
    """Parameters of textures and samplers."""
    r = w.r
    return [
        f"i(NAME, GL.TEXTURE_MIN_FILTER, {w.pick(t.MIN_FILTERS)})",
        f"i(NAME, GL.TEXTURE_MAG_FILTER, {w.pick(t.MIN_FILTERS[:2])})",
        f"i(NAME, GL.TEXTURE_WRAP_{r.choice('STR')}, {w.pick(t.WRAPS)})",
        f"f(NAME, GL.TEXTURE_MIN_LOD, {w.real()})",
        f"f(NAME, GL.TEXTURE_MAX_LOD, {w.real()})",
        f"f(NAME, GL.TEXTURE_LOD_BIAS, {w.real()})",
        f"i(NAME, GL.TEXTURE_COMPARE_MODE, {w.pick(t.names('NONE COMPARE_REF_TO_TEXTURE'))})",
        f"i(NAME, GL.TEXTURE_COMPARE_FUNC, {w.pick(t.COMPARES)})",
        f"f(NAME, GL.TEXTURE_MAX_ANISOTROPY, {r.choice((1.0, 2.0, 16.0, 1e9))})",
        f"fv(NAME, GL.TEXTURE_BORDER_COLOR, h.floats({w.seed()}, 4))",
        f"_iiv(NAME, GL.TEXTURE_BORDER_COLOR, h.ints({w.seed()}, 4))",
        f"i(NAME, GL.TEXTURE_CUBE_MAP_SEAMLESS, {r.randrange(2)})",
        f"i(NAME, GL.TEXTURE_REDUCTION_MODE_ARB, {w.pick(_REDUCTIONS)})",
        f"i(NAME, GL.TEXTURE_SRGB_DECODE_EXT, {w.pick(t.names('DECODE_EXT SKIP_DECODE_EXT'))})",
    ]


def _of_textures(w: Writer) -> list[str]:
    """Those that samplers do not have."""
    mode = w.pick(t.names("DEPTH_COMPONENT STENCIL_INDEX"))
    return [
        f"i(NAME, GL.TEXTURE_BASE_LEVEL, {w.r.choice((0, 1, 2, 5, 1000))})",
        f"i(NAME, GL.TEXTURE_MAX_LEVEL, {w.r.choice((0, 1, 3, 1000, w.wild()))})",
        f"i(NAME, GL.TEXTURE_SWIZZLE_{w.r.choice('RGBA')}, {w.pick(t.SWIZZLES)})",
        f"i(NAME, GL.DEPTH_STENCIL_TEXTURE_MODE, {mode})",
    ]


def _sampled(w: Writer, made: Texture) -> None:
    if w.often(0.5):  # what is complete without levels
        w.say(f"gl.texture_parameteri({made.name}, GL.TEXTURE_MIN_FILTER, GL.NEAREST)")
        w.say(f"gl.texture_parameteri({made.name}, GL.TEXTURE_MAG_FILTER, GL.NEAREST)")
        return
    for _ in range(w.r.randrange(1, 4)):
        known = _settings(w) + _of_textures(w)
        w.say("gl.texture_parameter" + w.r.choice(known).replace("NAME", made.name))


@step(7)
def another(w: Writer) -> None:
    made = new_texture(w)
    w.say(f"gl.bind_texture_unit({w.r.randrange(_UNITS)}, {made.name})")


@step(4)
def bound(w: Writer) -> None:
    made = w.texture()
    unit = min(max(w.small(_UNITS), 0), 40)
    if made is not None:
        w.say(f"gl.bind_texture_unit({unit}, {made.name if w.often(0.9) else 0})")


@step(1)
def bound_together(w: Writer) -> None:
    several = [w.texture() for _ in range(3)]
    names = ", ".join("0" if made is None else made.name for made in several)
    first = w.r.randrange(6)
    call = w.pick(("bind_textures", "bind_image_textures"))
    w.say(f"gl.{call}({first}, 3, np.array([{names}], 'u4'))")


@step(4)
def bound_as_image(w: Writer) -> None:
    made = w.texture()
    if made is None:
        return
    format = made.format if w.often(0.8) else w.r.choice([*t.IMAGE_FORMATS])
    if format not in t.IMAGE_FORMATS:
        format = "R32UI"
    unit, level = min(max(w.small(_UNITS), 0), 100), max(w.small(made.levels), 0)
    layer = max(w.small(6), 0)
    w.say(
        f"gl.bind_image_texture({unit}, {made.name}, {level}, {w.r.randrange(2)}, {layer}, "
        f"{w.pick(t.ACCESSES)}, GL.{format})"
    )


@step(4)
def written(w: Writer) -> None:
    made = w.texture()
    if made is not None and t.TARGETS[made.target].plain:
        _written(w, made)


@step(2)
def specified_again(w: Writer) -> None:
    """A level of a texture that may be attached or bound becomes another one."""
    made = w.texture()
    if made is None or made.fixed or not t.TARGETS[made.target].plain:
        return
    if w.often(0.3):
        made.format = _format(w, made.target)
    w.say(f"gl.bind_texture({made.bind_target}, {made.name})")
    _image(w, made, max(w.small(made.levels), 0) % 20, _extents(w, made.target))


@step(3)
def sampled(w: Writer) -> None:
    made = w.texture()
    if made is not None:
        _sampled(w, made)


@step(2)
def with_a_sampler(w: Writer) -> None:
    if not w.samplers or w.often(0.4):
        name = w.fresh("s")
        w.say(f"{name} = gl.create_samplers(1)[0]")
        w.samplers.append(name)
    name = w.pick(w.samplers)
    for _ in range(w.r.randrange(1, 4)):
        w.say("gl.sampler_parameter" + w.r.choice(_settings(w)).replace("NAME", name))
    w.say(f"gl.bind_sampler({w.r.randrange(_UNITS)}, {name if w.often(0.9) else 0})")


@step(1)
def cleared(w: Writer) -> None:
    made = w.texture()
    if made is None:
        return
    format, type_ = t.upload(t.FORMATS[made.format])
    data = f"h.data({w.seed()}, 16)"
    if w.often(0.5):
        w.say(f"gl.clear_tex_image({made.name}, {w.small(made.levels)}, {format}, {type_}, {data})")
        return
    place = ", ".join(str(w.r.choice((0, 0, 0, 1, 3))) for _ in range(3))
    size = ", ".join(str(w.r.choice((0, 1, 1, 2, 4))) for _ in range(3))
    w.say(
        f"gl.clear_tex_sub_image({made.name}, {w.small(made.levels)}, {place}, {size}, {format}, "
        f"{type_}, {data})"
    )


@step(1)
def with_mipmaps(w: Writer) -> None:
    made = w.texture()
    if made is not None:
        w.say(f"gl.generate_texture_mipmap({made.name})")


@step(2)
def copied(w: Writer) -> None:
    """From one texture to another, whatever they are."""
    one, other = w.texture(), w.texture()
    if one is None or other is None:
        return
    if w.often(0.6):  # two of one format
        alike = [made for made in w.textures if made.format == one.format]
        other = w.r.choice(alike)
    at, to, size = (
        ", ".join(str(w.r.choice(some)) for _ in range(3))
        for some in ((0, 0, 1, 3), (0, 0, 1, 3), (1, 1, 2, 4, 8))
    )
    w.say(
        f"gl.copy_image_sub_data({one.name}, {one.bind_target}, {w.small(one.levels)}, {at}, "
        f"{other.name}, {other.bind_target}, {w.small(other.levels)}, {to}, {size})"
    )


@step(2)
def copied_from_the_framebuffer(w: Writer) -> None:
    made = w.texture("TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP",
                     "TEXTURE_2D_ARRAY", "TEXTURE_1D_ARRAY", "TEXTURE_RECTANGLE")  # fmt: skip
    if made is None:
        return
    x, y = (w.r.choice((0, 0, 4, 30, -3, w.wild())) for _ in range(2))
    width, height = (w.r.choice((1, 2, 4, 4, 40)) for _ in range(2))
    level = w.small(made.levels)
    if not made.fixed and w.often(0.4) and made.target == "TEXTURE_2D":
        w.say(f"gl.bind_texture(GL.TEXTURE_2D, {made.name})")
        w.say(f"gl.copy_tex_image2d(GL.TEXTURE_2D, {level}, GL.{made.format}, {x}, {y}, {width}, "
              f"{height}, 0)")  # fmt: skip
        return
    dimensions = t.TARGETS[made.target].sizes + (made.target == "TEXTURE_CUBE_MAP")
    place = ", ".join(str(w.r.choice((0, 0, 1))) for _ in range(dimensions))
    size = f"{width}, {height}" if dimensions > 1 else str(width)
    w.say(
        f"gl.copy_texture_sub_image{dimensions}d({made.name}, {level}, {place}, {x}, {y}, {size})"
    )


@step(2)
def seen_differently(w: Writer) -> None:
    """A view of a texture: of other formats, levels and layers."""
    made = w.texture()
    if made is None or not made.fixed:
        return
    targets = [made.target] if w.often(0.5) else [x for x in t.TARGETS if "BUFFER" not in x]
    view = Texture(w.fresh("t"), w.r.choice(targets), made.format)
    if w.often(0.3):
        view.format = w.r.choice([*t.IMAGE_FORMATS])
    level, layer = w.r.choice((0, 0, 1)), w.r.choice((0, 0, 1, 6))
    levels, layers = w.r.choice((1, 1, 2, 1000)), w.r.choice((1, 1, 6, 2, 1000))
    w.say(
        f"{view.name} = gl.gen_textures(1)[0]; gl.texture_view({view.name}, {view.bind_target}, "
        f"{made.name}, GL.{view.format}, {level}, {levels}, {layer}, {layers})"
    )
    w.textures.append(view)


@step(2)
def looked_at(w: Writer) -> None:
    made = w.texture()
    if made is None:
        return
    info, level = t.FORMATS[made.format], w.small(made.levels)
    format, type_ = t.upload(info)
    if w.often(0.3):
        format, type_ = w.pick(t.PIXEL_FORMATS), w.pick(t.PIXEL_TYPES)
    size = 1 << 18
    choice = w.r.randrange(3)
    if choice == 0 and info.is_compressed:
        w.say(f"gl.get_compressed_texture_image({made.name}, {level}, {size})")
    elif choice == 1:
        box = ", ".join(str(w.r.choice((0, 0, 1))) for _ in range(3))
        box += ", " + ", ".join(str(w.r.choice((1, 1, 2, 4))) for _ in range(3))
        w.say(f"gl.get_texture_sub_image({made.name}, {level}, {box}, {format}, {type_}, {size})")
    else:
        w.say(f"gl.get_texture_image({made.name}, {level}, {format}, {type_}, {size})")


@step(1)
def a_handle(w: Writer) -> None:
    """Resident, or made so too often."""
    made = w.texture()
    if made is None:
        return
    name = w.fresh("h")
    if w.often(0.7):
        with_sampler = w.samplers and w.often(0.3)
        call = f"get_texture_sampler_handle_arb({made.name}, {w.pick(w.samplers)})" if (
            with_sampler
        ) else f"get_texture_handle_arb({made.name})"  # fmt: skip
        w.say(f"{name} = gl.{call}; gl.make_texture_handle_resident_arb({name})")
        if w.often(0.2):
            w.say(f"gl.make_texture_handle_non_resident_arb({name})")
        return
    format = made.format if made.format in t.IMAGE_FORMATS else "R32UI"
    w.say(
        f"{name} = gl.get_image_handle_arb({made.name}, {w.small(made.levels)}, 1, 0, "
        f"GL.{format}); "
        f"gl.make_image_handle_resident_arb({name}, {w.pick(t.ACCESSES)})"
    )


@step(1)
def invalidated(w: Writer) -> None:
    made = w.texture()
    if made is not None:
        w.say(f"gl.invalidate_tex_image({made.name}, {w.small(made.levels)})")


@step(1)
def stored_differently(w: Writer) -> None:
    """How pixels lie in memory; buffers to pack to and unpack from."""
    names = ["ROW_LENGTH", "SKIP_ROWS", "SKIP_PIXELS", "ALIGNMENT", "IMAGE_HEIGHT", "SKIP_IMAGES",
             "SWAP_BYTES", "LSB_FIRST"]  # fmt: skip
    name = f"GL.{w.pick(('PACK', 'UNPACK'))}_{w.pick(names)}"
    value = w.r.choice((0, 0, 1, 2, 4, 8)) if w.often(0.95) else numbers.integer(w.r)
    w.say(f"gl.pixel_storei({name}, {value})")
    if w.often(0.3):
        target = w.pick(t.names("PIXEL_PACK_BUFFER PIXEL_UNPACK_BUFFER"))
        w.say(f"gl.bind_buffer({target}, {w.buffer().name if w.often(0.5) else 0})")


@step(2)
def deleted(w: Writer) -> None:
    """Wherever it is bound or attached."""
    if len(w.textures) > 2:
        made = w.r.choice(w.textures)
        w.say(f"gl.delete_textures(1, np.array([{made.name}], 'u4'))")
        if w.often(0.8):
            w.textures.remove(made)
        w.spoiled.update(w.framebuffers)


def bind_everywhere(w: Writer, first: int, count: int, target: str, kind: str) -> None:
    """Textures that a shader may look at, in its units."""
    for unit in range(first, first + count):
        fits = [made for made in w.textures if made.target == target and made.kind == kind]
        made = w.r.choice(fits) if fits and w.often(0.8) else None
        if made is None:
            made = new_texture(w, target, _of_kind(w, target, kind))
        w.say(f"gl.bind_texture_unit({unit}, {made.name})")


def _of_kind(w: Writer, target: str, kind: str) -> str:
    """A format with such texels."""
    known = t.IMAGE_FORMATS if target == "TEXTURE_BUFFER" else t.FORMATS
    fits = [name for name in known if t.kind_of(t.FORMATS[name]) == kind]
    return w.r.choice(fits or ["RGBA8"])
