"""Entry points of framebuffer objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.pipe.enums import Target
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    read_array,
)
from gallette.state_tracker.entry_points.registry import entry, register, register_for
from gallette.state_tracker.getters import gets
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.targets.framebuffers import DEPTH, STENCIL, Attachment, Framebuffer
from gallette.state_tracker.targets.renderbuffers import Renderbuffer, channel_bits
from gallette.state_tracker.texturing.texture_targets import CUBE_FACES, TARGETS, check_level
from gallette.state_tracker.texturing.textures import TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_WINDOW_BUFFERS = frozenset(
    getattr(GL, n)
    for n in ("FRONT", "BACK", "LEFT", "RIGHT", "FRONT_LEFT", "FRONT_RIGHT", "BACK_LEFT",
              "BACK_RIGHT", "FRONT_AND_BACK")
)  # fmt: skip
_SINGLE_WINDOW_BUFFERS = _WINDOW_BUFFERS - {GL.LEFT, GL.RIGHT, GL.FRONT_AND_BACK}
"""Those whose parameters can be queried (section 9.2.3): FRONT and BACK are their left buffers."""
_MISSING_WINDOW_BUFFERS = frozenset((GL.RIGHT, GL.FRONT_RIGHT, GL.BACK_RIGHT))


def bound_framebuffer(ctx: Context, target: int) -> Framebuffer:
    """The framebuffer bound to a target."""
    if target in (GL.FRAMEBUFFER, GL.DRAW_FRAMEBUFFER):
        return ctx.framebuffers.draw
    if target == GL.READ_FRAMEBUFFER:
        return ctx.framebuffers.read
    raise invalid_enum(target, "framebuffer target")


def by_name(ctx: Context, name: int) -> Framebuffer:
    return ctx.framebuffers.names.require(name) if name else ctx.framebuffers.window


def _create(ctx: Context) -> Any:
    return lambda name: Framebuffer(name, ctx.caps.max_render_targets)


@entry
def bind_framebuffer(ctx: Context, target: int, framebuffer: int) -> None:
    if target not in (GL.FRAMEBUFFER, GL.DRAW_FRAMEBUFFER, GL.READ_FRAMEBUFFER):
        raise invalid_enum(target, "framebuffer target")
    state = ctx.framebuffers
    found: Framebuffer = state.window
    if framebuffer:
        found = state.names.bind(framebuffer, _create(ctx), ctx.is_core)
    state.bind(found, target != GL.READ_FRAMEBUFFER, target != GL.DRAW_FRAMEBUFFER)


def _unbind(ctx: Context, found: Framebuffer) -> None:
    state = ctx.framebuffers
    state.bind(state.window, found is state.draw, found is state.read)


objects(
    "framebuffer",
    lambda ctx: ctx.framebuffers.names,
    _unbind,
    lambda ctx, name: _create(ctx)(name),
    label=GL.FRAMEBUFFER,
)


@entry
def check_named_framebuffer_status(ctx: Context, framebuffer: int, target: int) -> int:
    bound_framebuffer(ctx, target)
    return by_name(ctx, framebuffer).status(ctx)


# -- attaching -------------------------------------------------------------------------------------


def _points(ctx: Context, framebuffer: Framebuffer, attachment: int) -> list[int | str]:
    """The attachment points of an attachment name."""
    if framebuffer.is_window:
        raise invalid_operation("nothing can be attached to the default framebuffer")
    if attachment == GL.DEPTH_ATTACHMENT:
        return [DEPTH]
    if attachment == GL.STENCIL_ATTACHMENT:
        return [STENCIL]
    if attachment == GL.DEPTH_STENCIL_ATTACHMENT:
        return [DEPTH, STENCIL]
    index = attachment - GL.COLOR_ATTACHMENT0
    if 0 <= index < 32:
        if index >= ctx.caps.max_render_targets:
            raise invalid_operation(f"there is no colour attachment {index}")
        return [index]
    raise invalid_enum(attachment, "attachment")


def _attach(
    ctx: Context, framebuffer: Framebuffer, attachment: int, found: Attachment | None
) -> None:
    for point in _points(ctx, framebuffer, attachment):
        framebuffer.attach(point, found)
    ctx.dirty |= Dirty.FRAMEBUFFER


def _renderbuffer(
    ctx: Context, framebuffer: Framebuffer, attachment: int, target: int, name: int
) -> None:
    if target != GL.RENDERBUFFER:
        raise invalid_enum(target, "renderbuffer target")
    found = ctx.renderbuffers.names.require(name) if name else None
    _attach(ctx, framebuffer, attachment, Attachment(found) if found is not None else None)


def _texture(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.get(name)
    if found is None:
        raise invalid_value(f"{name} is not the name of a texture")
    return found


def _check_level(ctx: Context, texture: TextureObject, level: int) -> None:
    check_level(ctx.caps, texture.target, level)
    if texture.immutable_levels and level >= texture.immutable_levels:
        raise invalid_value(f"the texture has {texture.immutable_levels} levels for good")


def _framebuffer_texture_nd(dimensions: int) -> Any:
    def call(
        ctx: Context, target: int, attachment: int, textarget: int, texture: int, level: int,
        layer: int = 0,
    ) -> None:  # fmt: skip
        framebuffer = bound_framebuffer(ctx, target)
        points = _points(ctx, framebuffer, attachment)
        if texture == 0:
            for point in points:
                framebuffer.attach(point, None)
            ctx.dirty |= Dirty.FRAMEBUFFER
            return
        found = _named(ctx, texture)
        face = CUBE_FACES.index(textarget) if textarget in CUBE_FACES else 0
        check_es(ctx, textarget, "texture target with images")
        if textarget not in TARGETS and textarget not in CUBE_FACES:
            raise invalid_enum(textarget, "texture target")
        wanted = GL.TEXTURE_CUBE_MAP if textarget in CUBE_FACES else textarget
        # Attaching the first layer of an array by its target is not in the specification, but
        # native GLs accept it and programs do it.
        array = dimensions == 2 and wanted == GL.TEXTURE_2D_ARRAY
        whole_cube = textarget == GL.TEXTURE_CUBE_MAP
        if (
            whole_cube
            or found.target.value != wanted
            or (_dimensions(found) != dimensions and not array)
        ):
            raise invalid_operation(f"texture {texture} is no {GL.name_of(textarget)}")
        _check_level(ctx, found, level)
        if dimensions == 3 and not 0 <= layer < ctx.caps.max_texture_3d_size:
            raise invalid_value("layer beyond the largest 3D texture")
        for point in points:
            framebuffer.attach(point, Attachment(found, level, face, layer))
        ctx.dirty |= Dirty.FRAMEBUFFER

    return call


def _named(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.get(name)
    if found is None:
        raise invalid_operation(f"{name} is not the name of a texture")
    return found


def _dimensions(texture: TextureObject) -> int:
    if texture.target.multisample:
        return 2 if texture.target.layers_axis < 0 else 0
    return texture.target.dimensions if texture.target.layers_axis < 0 else 0


for _n in (1, 2, 3):
    register(f"framebuffer_texture{_n}d", _framebuffer_texture_nd(_n))


def _whole(
    ctx: Context, framebuffer: Framebuffer, attachment: int, texture: int, level: int
) -> None:
    if texture == 0:
        _attach(ctx, framebuffer, attachment, None)
        return
    found = _texture(ctx, texture)
    if found.target.pipe is Target.BUFFER:
        raise invalid_operation("a buffer texture cannot be rendered to")
    _check_level(ctx, found, level)
    layered = found.target.pipe.is_array or found.target.pipe in (
        Target.TEXTURE_3D,
        Target.TEXTURE_CUBE,
    )
    _attach(ctx, framebuffer, attachment, Attachment(found, level, layered=layered))


def _layer(
    ctx: Context, framebuffer: Framebuffer, attachment: int, texture: int, level: int, layer: int
) -> None:
    if texture == 0:
        _attach(ctx, framebuffer, attachment, None)
        return
    found = _named(ctx, texture)
    target = found.target.pipe
    cube = target is Target.TEXTURE_CUBE and ctx.profile != "es"
    if not (target.is_array or target is Target.TEXTURE_3D or cube):
        raise invalid_operation("this texture has no layers")
    limit = {
        Target.TEXTURE_3D: ctx.caps.max_texture_3d_size,
        Target.TEXTURE_CUBE: found.target.faces,
    }.get(target, ctx.caps.max_texture_array_layers)
    if not 0 <= layer < limit:
        raise invalid_value(f"layer {layer} is not below {limit}")
    _check_level(ctx, found, level)
    face, layer = (layer, 0) if target is Target.TEXTURE_CUBE else (0, layer)
    _attach(ctx, framebuffer, attachment, Attachment(found, level, face, layer))


# -- draw and read buffers -------------------------------------------------------------------------


def _check_buffer(ctx: Context, framebuffer: Framebuffer, buffer: int) -> None:
    if buffer == GL.NONE:
        return
    check_es(ctx, buffer, "colour buffer")
    color = GL.COLOR_ATTACHMENT0 <= buffer < GL.COLOR_ATTACHMENT0 + 32
    if ctx.is_compat and 0 <= buffer - GL.AUX0 < 4:
        raise invalid_operation("there are no auxiliary buffers")
    if not color and buffer not in _WINDOW_BUFFERS:
        raise invalid_enum(buffer, "colour buffer")
    wrong = color if framebuffer.is_window else not color
    limit = GL.COLOR_ATTACHMENT0 + ctx.caps.max_render_targets
    if wrong or (color and buffer >= limit) or buffer in _MISSING_WINDOW_BUFFERS:
        raise invalid_operation(f"{GL.name_of(buffer)} does not exist here")


def _draw_buffers(ctx: Context, framebuffer: Framebuffer, buffers: list[int]) -> None:
    count = ctx.caps.max_render_targets
    if len(buffers) > count:
        raise invalid_value(f"at most {count} draw buffers")
    wanted = buffers + [GL.NONE] * (count - len(buffers))
    if wanted == framebuffer.draw_buffers and not framebuffer.is_window:
        return  # many programs set it at every bind
    used = [b for b in buffers if b != GL.NONE]
    several = (GL.FRONT, GL.LEFT, GL.RIGHT, GL.FRONT_AND_BACK)
    for buffer in buffers:
        if buffer in several:
            raise invalid_enum(buffer, "single colour buffer")
        if buffer == GL.BACK and len(buffers) != 1:
            raise invalid_operation("the back buffer is drawn to alone")
        _check_buffer(ctx, framebuffer, buffer)
    if len(set(used)) != len(used):
        raise invalid_operation("a draw buffer is named twice")
    if ctx.profile == "es" and framebuffer.is_window and len(buffers) != 1:
        raise invalid_operation("the default framebuffer has one draw buffer in OpenGL ES")
    own = [GL.COLOR_ATTACHMENT0 + i for i in range(len(buffers))]
    if ctx.profile == "es" and not framebuffer.is_window:
        if any(b not in (GL.NONE, a) for a, b in zip(own, buffers, strict=True)):
            raise invalid_operation("draw buffers are in the order of attachments in OpenGL ES")
    framebuffer.draw_buffers = wanted
    ctx.dirty |= Dirty.FRAMEBUFFER


def _draw_several(ctx: Context, framebuffer: Framebuffer, n: int, bufs: Pointer) -> None:
    if n < 0:
        raise invalid_value("a negative number of draw buffers")
    _draw_buffers(ctx, framebuffer, [int(b) for b in read_array(bufs, "uint", n)])


def _draw_buffer(ctx: Context, framebuffer: Framebuffer, buffer: int) -> None:
    _check_buffer(ctx, framebuffer, buffer)
    wanted = [buffer] + [GL.NONE] * (ctx.caps.max_render_targets - 1)
    if framebuffer.draw_buffers != wanted:
        framebuffer.draw_buffers = wanted
        ctx.dirty |= Dirty.FRAMEBUFFER


def _read_buffer(ctx: Context, framebuffer: Framebuffer, buffer: int) -> None:
    _check_buffer(ctx, framebuffer, buffer)
    framebuffer.read_buffer = buffer


# -- parameters ------------------------------------------------------------------------------------

_SIZES: dict[int, str] = {
    GL.FRAMEBUFFER_ATTACHMENT_RED_SIZE: "R",
    GL.FRAMEBUFFER_ATTACHMENT_GREEN_SIZE: "G",
    GL.FRAMEBUFFER_ATTACHMENT_BLUE_SIZE: "B",
    GL.FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE: "A",
    GL.FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE: "Z",
    GL.FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE: "S",
}


_OF_IMAGES = frozenset(
    (
        *_SIZES,
        GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE,
        GL.FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING,
        GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL,
        GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE,
        GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER,
        GL.FRAMEBUFFER_ATTACHMENT_LAYERED,
    )
)
"""Queries of an attached image."""


def _attachment_parameter(
    ctx: Context, framebuffer: Framebuffer, attachment: int, pname: int
) -> list[int]:
    if framebuffer.is_window:
        names: dict[int, int | str] = {GL.DEPTH: DEPTH, GL.STENCIL: STENCIL}
        check_es(ctx, attachment, "colour buffer")
        if attachment not in names and attachment not in _SINGLE_WINDOW_BUFFERS:
            raise invalid_enum(attachment, "buffer of the default framebuffer")
        missing = attachment in _MISSING_WINDOW_BUFFERS
        found = None if missing else framebuffer.attachments.get(names.get(attachment, 0))
    else:
        points = _points(ctx, framebuffer, attachment)
        found = framebuffer.attachments.get(points[0])
        if len(points) == 2:
            other = framebuffer.attachments.get(points[1])
            if found is not other and (found is None or not found.same_image(other)):
                raise invalid_operation("depth and stencil are different images")
    both = attachment == GL.DEPTH_STENCIL_ATTACHMENT
    if both and pname == GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE:
        raise invalid_operation("depth and stencil are of different types")
    if pname == GL.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE:
        if found is None:
            return [GL.NONE]
        if framebuffer.is_window:
            return [GL.FRAMEBUFFER_DEFAULT]
        return [GL.RENDERBUFFER if isinstance(found.object, Renderbuffer) else GL.TEXTURE]
    if found is None:
        if pname == GL.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME:
            return [0]
        if pname not in _OF_IMAGES:
            raise invalid_enum(pname, "attachment parameter")
        raise invalid_operation("nothing is attached there")
    if pname == GL.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME and not framebuffer.is_window:
        return [found.object.name]
    info = found.info
    if pname in _SIZES:
        return [channel_bits(info, _SIZES[pname]) if info is not None else 0]
    if pname == GL.FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE:
        return [_component_type(info, attachment)]
    if pname == GL.FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING:
        srgb = info is not None and (found.encodes or info.candidates[0].is_srgb)
        return [GL.SRGB if srgb else GL.LINEAR]
    if isinstance(found.object, TextureObject):
        cube = found.object.target.faces == 6 and not found.layered
        values = {
            GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL: found.level,
            GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE: CUBE_FACES[found.face] if cube else 0,
            GL.FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER: found.layer,
            GL.FRAMEBUFFER_ATTACHMENT_LAYERED: int(found.layered),
        }
        if pname in values:
            return [values[pname]]
    raise invalid_enum(pname, "attachment parameter")


def _component_type(info: Any, attachment: int) -> int:
    if info is None:
        return GL.NONE
    if attachment in (GL.STENCIL_ATTACHMENT, GL.STENCIL):
        return GL.INDEX
    kind = info.candidates[0].channels[0].type
    names = {"UNORM": "UNSIGNED_NORMALIZED", "SNORM": "SIGNED_NORMALIZED", "FLOAT": "FLOAT"}
    names |= {"SINT": "INT", "UINT": "UNSIGNED_INT"}
    return int(getattr(GL, names[kind]))


def _status(ctx: Context, framebuffer: Framebuffer) -> int:
    return framebuffer.status(ctx)


def _drawn(ctx: Context) -> Framebuffer:
    return ctx.framebuffers.draw


def _no_window(ctx: Context, name: int) -> Framebuffer:
    """As by `by_name`, but 0 is the name of none."""
    return ctx.framebuffers.names.require(name)


register_for(
    bound_framebuffer,
    {
        "check_framebuffer_status": _status,
        "framebuffer_renderbuffer": _renderbuffer,
        "framebuffer_texture": _whole,
        "framebuffer_texture_layer": _layer,
        "get_framebuffer_attachment_parameteriv": _attachment_parameter,
    },
)
register_for(
    _no_window,
    {
        "named_framebuffer_renderbuffer": _renderbuffer,
        "named_framebuffer_texture": _whole,
        "named_framebuffer_texture_layer": _layer,
    },
)
register_for(
    by_name,
    {
        "named_framebuffer_draw_buffer": _draw_buffer,
        "named_framebuffer_draw_buffers": _draw_several,
        "named_framebuffer_read_buffer": _read_buffer,
        "get_named_framebuffer_attachment_parameteriv": _attachment_parameter,
    },
)
register_for(_drawn, {"draw_buffer": _draw_buffer, "draw_buffers": _draw_several}, named=False)
register("read_buffer", lambda ctx, src: _read_buffer(ctx, ctx.framebuffers.read, src))


def _draw_buffer_getter(index: int) -> Any:
    return lambda ctx: ctx.framebuffers.draw.draw_buffers[index]


def _double_buffered(ctx: Context) -> int:
    return int(ctx.framebuffers.draw.has_back)


def _encodes(ctx: Context) -> bool:
    """Whether any colour that is drawn may be encoded as sRGB."""
    framebuffer = ctx.framebuffers.draw
    drawn = [framebuffer.color(name) for name in framebuffer.draw_buffers if name != GL.NONE]
    return any(a is not None and a.place() is not None and a.format.is_srgb for a in drawn)


gets({f"DRAW_BUFFER{i}": _draw_buffer_getter(i) for i in range(8)})
gets({"FRAMEBUFFER_SRGB_CAPABLE_EXT": _encodes}, profiles="desktop")
gets({"SAMPLE_BUFFERS": lambda c: int(c.framebuffers.draw.samples > 1)})
gets({"DRAW_BUFFER": _draw_buffer_getter(0), "DOUBLEBUFFER": _double_buffered}, profiles="desktop")
