"""Pictures in the format of golden images: RGBA bytes, top row first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.output_files import write_whole
from gallette.pictures import png_bytes

Picture = npt.NDArray[np.uint8]


def picture_of(what: Any) -> Picture:
    """RGBA bytes of anything that is a picture.

    That is a moderngl framebuffer or texture, a context of gallette (its draw framebuffer), an
    array `[row, column, channel]` with the top row first (bytes, or floats from 0 to 1), a Pillow
    image, or the path of an image file.
    """
    from gallette.notebook import Image, show

    if isinstance(what, str | os.PathLike):
        return read_picture(Path(what))
    if hasattr(what, "convert") and hasattr(what, "getbands"):  # Pillow's
        return np.asarray(what.convert("RGBA"))
    try:
        found: Image = show(what)
    except (ValueError, TypeError) as error:
        raise GalletteError(f"{type(what).__name__} is not a picture: {error}") from None
    if (
        found.pixels.dtype == np.bool_
        or found.pixels.dtype.kind not in "uif"
        or (found.pixels.dtype.kind in "ui" and found.pixels.dtype != np.uint8)
    ):
        raise GalletteError(f"a picture has bytes or floats, not {found.pixels.dtype}")
    rgb = found.rgb()
    alpha = np.full((*rgb.shape[:2], 1), 255, np.uint8)
    if found.pixels.shape[2] == 4:
        alpha = Image(found.pixels[..., 3:]).rgb()[..., :1]
    return np.concatenate([rgb, alpha], axis=2)


def read_picture(path: Path) -> Picture:
    """An image file's picture."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGBA"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path}: cannot read the image ({error})") from None


def write_picture(path: Path, picture: Picture) -> None:
    """Write a PNG file, all of it or nothing; without alpha if everything is opaque."""
    opaque = bool((picture[..., 3] == 255).all())
    write_whole(path, png_bytes(picture[..., :3] if opaque else picture), folder=True)
