"""EGL images: a level of a texture, or a renderbuffer, whose storage other textures can share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gallette.egl.constants import EGL, Error
from gallette.egl.errors import check
from gallette.pipe.resource import Resource
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.texturing.texture_formats import InternalFormat

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.renderbuffers import Renderbuffer


class Image:
    """The storage of one image, kept alive for as long as the EGL image is."""

    def __init__(self, source: tuple[Resource, int, int, InternalFormat]):
        resource, self.level, self.layer, self.info = source
        self.resource = resource.ref()

    def release(self) -> None:
        self.resource.unref()


def source_of(
    gl: Context, target: int, name: int, given: dict[int, int]
) -> tuple[Resource, int, int, InternalFormat]:
    """Resource, level, layer and format of the source of an image."""
    level = given.get(EGL.GL_TEXTURE_LEVEL, 0)
    if target == EGL.GL_RENDERBUFFER:
        buffer: Renderbuffer | None = gl.renderbuffers.names.get(name)
        ok = buffer is not None and buffer.resource is not None
        check(ok, Error.BAD_PARAMETER, f"{name} is not a renderbuffer with storage")
        assert buffer is not None and buffer.resource is not None
        return buffer.resource, 0, 0, buffer.info
    face = target - EGL.GL_TEXTURE_CUBE_MAP_POSITIVE_X
    known = target in (EGL.GL_TEXTURE_2D, EGL.GL_TEXTURE_3D) or 0 <= face < 6
    check(known, Error.BAD_PARAMETER, f"0x{target:04X} is not a source of images")
    kinds = {EGL.GL_TEXTURE_2D: GL.TEXTURE_2D, EGL.GL_TEXTURE_3D: GL.TEXTURE_3D}
    kind = kinds.get(target, GL.TEXTURE_CUBE_MAP)
    texture: Any = gl.textures.names.get(name)
    ok = texture is not None and texture.target.value == kind
    check(ok, Error.BAD_PARAMETER, f"{name} is not a texture of that kind")
    texture.finalize()
    face = face if kind == GL.TEXTURE_CUBE_MAP else 0
    found, image = texture.storage(face, level), texture.image(face, level)
    if found is None or image is None:
        check(False, Error.BAD_MATCH if level else Error.BAD_PARAMETER, "no image at that level")
    layer = given.get(EGL.GL_TEXTURE_ZOFFSET, 0) if kind == GL.TEXTURE_3D else found[2]
    inside = kind != GL.TEXTURE_3D or 0 <= layer < image.extent[2]
    check(inside, Error.BAD_PARAMETER, f"the texture has no slice {layer}")
    return found[0], found[1], layer, image.info


def texture_from_buffer(gl: Context, buffer: Renderbuffer | None) -> Any:
    """Copy a surface's colours into the texture bound to GL_TEXTURE_2D."""
    if buffer is None:
        return None
    gl.copy_tex_image2d(
        GL.TEXTURE_2D, 0, buffer.internal_format, 0, 0, buffer.width, buffer.height, 0
    )
    return buffer


_UNPACK = (
    GL.UNPACK_SWAP_BYTES, GL.UNPACK_LSB_FIRST, GL.UNPACK_ROW_LENGTH, GL.UNPACK_SKIP_ROWS,
    GL.UNPACK_SKIP_PIXELS, GL.UNPACK_ALIGNMENT,
)  # fmt: skip


@contextmanager
def plain_unpacking(gl: Context) -> Iterator[None]:
    """Pictures that are given meanwhile are bytes of this process, row after row."""
    names = _UNPACK[2:] if gl.profile.startswith("es") else _UNPACK
    saved = [gl.get_integerv(name)[0] for name in names]
    buffer = gl.get_integerv(GL.PIXEL_UNPACK_BUFFER_BINDING)[0]
    try:
        for name in names:
            gl.pixel_storei(name, int(name == GL.UNPACK_ALIGNMENT))
        gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, 0)
        yield
    finally:
        for name, value in zip(names, saved, strict=True):
            gl.pixel_storei(name, value)
        gl.bind_buffer(GL.PIXEL_UNPACK_BUFFER, buffer)


def texture_from_pixels(gl: Context, target: int, pixels: Any) -> None:
    """Copy RGBA bytes into the texture bound to the target; their first row becomes its first."""
    height, width = pixels.shape[:2]
    with plain_unpacking(gl):
        given = GL.RGBA, GL.UNSIGNED_BYTE, pixels
        if target == GL.TEXTURE_1D:
            gl.tex_image1d(target, 0, GL.RGBA, width, 0, *given)
        else:
            gl.tex_image2d(target, 0, GL.RGBA, width, height, 0, *given)
