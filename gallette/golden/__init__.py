"""Golden images: pictures that a program is known to draw, kept as PNG files and compared with.

`Goldens` is a folder of them. `check` compares a picture with the golden of its name and returns a
`Comparison`; with `update=True` it writes goldens that are missing or differ. `gallette diff
--golden`, `gallette run --golden` and the fixture `image_regression` of the pytest plugin all use
it.

A picture may differ from its golden by the `Tolerance`, which a caller gives or the file
`tolerances.toml` in the folder.
"""

from gallette.golden.comparing import Comparison, compare_pictures, flip_error
from gallette.golden.folder import Goldens
from gallette.golden.pictures import picture_of
from gallette.golden.tolerance import Tolerance

__all__ = [
    "Comparison",
    "Goldens",
    "Tolerance",
    "compare_pictures",
    "flip_error",
    "picture_of",
]
