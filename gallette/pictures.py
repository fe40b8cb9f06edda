"""Pictures as files: `save_picture` writes one in the format that the file's name says."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import InputError
from gallette.compiler.output_files import write_whole

__all__ = ["png_bytes", "save_picture"]


def png_bytes(image: Any) -> bytes:
    """8-bit grey, RGB or RGBA as a PNG file."""
    return _encoded(image, "PNG")


def save_picture(path: Path, image: Any) -> None:
    """Write 8-bit grey, RGB or RGBA, all of it or nothing."""
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
