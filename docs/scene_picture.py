"""The picture at the top of the README: what ten of the scenes draw on gallette.

python docs/scene_picture.py docs/pictures/scenes.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from gallette.pictures import save_picture, to_rgb8
from gallette.render import render_scenes

ROWS = (
    ("shadow_map", "water", "skinning", "reflection", "deferred"),
    ("picking", "mirrors", "transparency", "normals", "mandelbrot"),
)
SIZE = (240, 180)
GAP = 6


def picture(driver: str = "numpipe") -> np.ndarray:
    """The last pass of each scene, in rows on white."""
    names = [name for row in ROWS for name in row]
    rendering = render_scenes(driver, names)
    assert not rendering.errors, rendering.errors
    width, height = SIZE
    columns = len(ROWS[0])
    size = (len(ROWS) * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3)
    whole = np.full(size, 255, np.uint8)
    for number, name in enumerate(names):
        image = Image.fromarray(to_rgb8(rendering.passes[name][-1].color)).resize(SIZE)
        y, x = (number // columns) * (height + GAP), (number % columns) * (width + GAP)
        whole[y : y + height, x : x + width] = np.asarray(image)
    return whole


if __name__ == "__main__":
    save_picture(Path(sys.argv[1]), picture())
