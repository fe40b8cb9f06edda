"""The history of one pixel: everything that changed it, in order, and why other calls did not.

The run itself is watched, not a second renderer: `recorder` follows the calls of the pipe,
`witness` is between rasterizer and fragment engine and passes the fragments of the pixel to the
engine one by one, `records` are the records they make.
"""

from gallette.history.recorder import pixel_history
from gallette.history.records import Fragment, History, PixelEvent, Test

__all__ = ["Fragment", "History", "PixelEvent", "Test", "pixel_history"]
