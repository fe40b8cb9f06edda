"""The history of one pixel: everything that touched it, in order, and why nothing else did.

The run itself is watched, not a second renderer: `recorder` follows the calls of the pipe,
`witness` stands between rasterizer and fragment engine and hands the fragments of the pixel to the
engine one by one, `records` is what they write down.
"""

from gallette.history.recorder import pixel_history
from gallette.history.records import Fragment, History, PixelEvent, Test

__all__ = ["Fragment", "History", "PixelEvent", "Test", "pixel_history"]
