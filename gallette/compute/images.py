"""Images as arguments: arrays with a format."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS, Format

_TARGETS = {1: Target.TEXTURE_1D, 2: Target.TEXTURE_2D, 3: Target.TEXTURE_3D}
_LETTERS = "RGBA"


class Image:
    """An array as an image of `dimensions` (1 to 3) axes, slowest first: `array[y, x]`.

    A further axis of one, two or four elements is the components. Floats are floats; integers are
    0..1 (or -1..1) in the kernel, or themselves with `integer`.
    """

    def __init__(
        self, array: npt.NDArray[Any], *, dimensions: int = 2, integer: bool = False
    ) -> None:
        if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
            raise GalletteError("an image needs a contiguous NumPy array")
        if dimensions not in _TARGETS or array.ndim not in (dimensions, dimensions + 1):
            raise GalletteError(f"{array.ndim} axes for an image of {dimensions} dimensions")
        components = array.shape[-1] if array.ndim > dimensions else 1
        if components not in (1, 2, 4):
            raise GalletteError(f"an image has 1, 2 or 4 components, not {components}")
        if 0 in array.shape:
            raise GalletteError("an image has at least one texel")
        self.array = array
        self.dimensions = dimensions
        self.format = _format(array.dtype, components, integer)

    @property
    def target(self) -> Target:
        return _TARGETS[self.dimensions]

    @property
    def extent(self) -> tuple[int, int, int]:
        """Width, height, depth."""
        x, y, z = [*self.array.shape[: self.dimensions][::-1], 1, 1][:3]
        return x, y, z

    @property
    def rows(self) -> npt.NDArray[np.uint8]:
        """The bytes: `[z][y][byte of the row]`, a view."""
        _, height, depth = self.extent
        return self.array.view(np.uint8).reshape(depth, height, -1)


def _format(dtype: np.dtype[Any], components: int, integer: bool) -> Format:
    bits = dtype.itemsize * 8
    kind = {"f": "FLOAT", "u": "UINT" if integer else "UNORM", "i": "SINT" if integer else "SNORM"}
    name = "".join(f"{letter}{bits}" for letter in _LETTERS[:components])
    found = FORMATS.get(f"{name}_{kind.get(dtype.kind, '')}")
    if found is None or bits == 64:
        raise GalletteError(f"an image cannot have components of {dtype}")
    return found


class Sampler:
    """The filtering and wrapping of a kernel's `sampler_t` argument."""

    def __init__(
        self, address: str = "clamp_to_edge", *, normalized: bool = False, linear: bool = False
    ) -> None:
        from gallette.compiler.spirv.read.kernel_images import ADDRESSING

        if address not in ADDRESSING:
            raise GalletteError(f"addressing is one of {', '.join(ADDRESSING)}, not {address!r}")
        self.bits = ADDRESSING.index(address) << 2 | normalized << 1 | linear
