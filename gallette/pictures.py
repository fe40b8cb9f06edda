"""Pictures for people: as bytes, in a visible range of numbers, and as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import InputError
from gallette.compiler.output_files import write_whole

Image = npt.NDArray[Any]


def grey_range(*pictures: Image) -> tuple[float, float]:
    """The numbers to show as black and white: the range of floats whose channels are equal (depths
    are close together); 0 and 1 for other pictures.
    """
    for picture in pictures:
        rgb = picture[..., :3]
        if picture.dtype.kind != "f" or not np.array_equal(
            rgb[..., 1:], rgb[..., :-1], equal_nan=True
        ):
            return 0.0, 1.0
    values = np.concatenate([p[..., 0].ravel() for p in pictures])
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return (low, high) if high > low else (0.0, 1.0)


def to_rgb8(color: Image, shown: tuple[float, float] = (0.0, 1.0)) -> Image:
    """RGB for display: 8 bits, top row first, the first number of `shown` as black."""
    rgb = color[..., :3]
    if rgb.dtype != np.uint8:
        low, high = shown
        with np.errstate(all="ignore"):
            rgb = np.nan_to_num((rgb - low) / (high - low))
        rgb = (np.clip(rgb, 0, 1) * 255 + 0.5).astype(np.uint8)
    return np.ascontiguousarray(rgb[::-1])


def png_bytes(image: Any) -> bytes:
    """8-bit grey, RGB or RGBA as a PNG file."""
    return _encoded(image, "PNG")


def save_picture(path: Path, image: Any) -> None:
    """Write an 8-bit grey, RGB or RGBA picture, atomically."""
    from PIL import Image

    format = Image.registered_extensions().get(path.suffix.lower())
    if format not in Image.SAVE:
        raise InputError(f"{path}: pictures are written as .png and the like")
    write_whole(path, _encoded(image, format))


def _encoded(image: Any, format: str) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(out, format, optimize=True)
    return out.getvalue()
