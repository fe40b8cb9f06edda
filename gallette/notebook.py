"""The public functions of `gallette` for scripts and notebooks: run, look, compare, explain.

Everything the command line does with a scene, a shader_test or a capture, as a typed function; the
results are the records that the commands print.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.pictures import png_bytes

if TYPE_CHECKING:
    from gallette.capture import Capture, Replayed
    from gallette.capture.differ import CaptureDiff
    from gallette.compare import PassDiff
    from gallette.debugger import Session
    from gallette.explaining import Explanation
    from gallette.history import History

Pixels = npt.NDArray[Any]


class Image:
    """A picture that notebooks show: bytes or floats, `[row, column, channel]`, top row first."""

    def __init__(self, pixels: Pixels):
        array = np.asarray(pixels)
        if array.ndim == 2:
            array = array[..., None]
        if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4):
            raise GalletteError(f"pixels: an image has 1 to 4 channels, not shape {array.shape}")
        self.pixels = array

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[1], self.pixels.shape[0]

    def rgb(self) -> npt.NDArray[np.uint8]:
        """Three channels of 8 bits: floats are clamped to 0..1, one channel is grey, alpha is
        dropped.
        """
        array = self.pixels
        if array.dtype != np.uint8:
            with np.errstate(all="ignore"):
                scaled = np.clip(np.nan_to_num(array.astype(np.float64)), 0, 1) * 255 + 0.5
            array = scaled.astype(np.uint8)
        if array.shape[2] == 1:
            return np.repeat(array, 3, axis=2)
        if array.shape[2] == 2:
            return np.concatenate([array, np.zeros_like(array[..., :1])], axis=2)
        return np.ascontiguousarray(array[..., :3])

    def _repr_png_(self) -> bytes:
        return png_bytes(self.rgb())

    def save(self, path: str | Path) -> None:
        """Write a PNG file."""
        write_whole(path, self._repr_png_())

    def __repr__(self) -> str:
        width, height = self.size
        return f"<gallette.Image {width}x{height}, {self.pixels.shape[2]} x {self.pixels.dtype}>"


def show(what: Any, attachment: int = 0) -> Image:
    """A picture of a framebuffer, a GL context's draw buffer, a scene (its name or one of its
    passes), or an array.

    >>> show(np.zeros((4, 4, 3), np.uint8))
    <gallette.Image 4x4, 3 x uint8>
    """
    from gallette.scenes.common import Pass
    from gallette.state_tracker import GLInterface

    if isinstance(what, Image):
        return what
    if isinstance(what, str):  # a scene
        what = draw_scene(what)
    if isinstance(what, Pass):
        return Image(what.color[::-1])
    if isinstance(what, GLInterface):
        return Image(_read_context(what, attachment))
    if hasattr(what, "read") and hasattr(what, "size"):  # moderngl's framebuffers and textures
        width, height = what.size
        if hasattr(what, "color_attachments"):
            data = what.read(components=4, attachment=attachment)
            return Image(np.frombuffer(data, np.uint8).reshape(height, width, 4)[::-1])
        dtype: Any = {"f1": np.uint8, "f2": np.float16, "f4": np.float32}.get(what.dtype)
        if dtype is None:
            raise GalletteError(f"what: textures of {what.dtype} are no pictures")
        data = np.frombuffer(what.read(alignment=1), dtype)
        return Image(data.reshape(height, width, what.components)[::-1])
    return Image(np.asarray(what))


def _read_context(gl: Any, attachment: int) -> Pixels:
    from gallette.capture.snapshot import read_attachments
    from gallette.capture.story import Target

    state = getattr(gl, "pipe_framebuffer", None)
    if state is None:
        raise GalletteError("what: only contexts of this stack know their framebuffer's size")
    colors = tuple(None if c is None else c.format.name for c in state.cbufs)
    found = read_attachments(gl, Target(state.width, state.height, 0, colors, None))
    if f"colour {attachment}" not in found:
        raise GalletteError(f"attachment: there is no colour {attachment}")
    return found[f"colour {attachment}"][::-1]


def draw_scene(name: str, driver: str | None = None) -> Any:
    """The last pass of a bundled scene, drawn in this process (see `gallette diff --list`)."""
    import moderngl

    import gallette
    from gallette.commands.diff import check_scenes
    from gallette.scenes import find_scene

    check_scenes([name], "name")
    window: Any = gallette.moderngl_context(driver)
    try:
        ctx = moderngl.create_context(standalone=True, context=window)
        ctx.extra = window  # for scenes that call OpenGL itself
        scene = find_scene(name)
        assert scene is not None
        passes = list(scene.render(ctx, scene.size))
    finally:
        window.release()
    return passes[-1]


def _driver(driver: str | None) -> str:
    import gallette

    return driver or gallette.default_driver()


def trace(target: str, path: str | Path, driver: str | None = None) -> Capture:
    """Record a scene or shader_test to a capture file; returns the capture."""
    from gallette.capture import open_capture
    from gallette.capture.targets import check_target, record_target

    check_target(target, "target")
    record_target(target, Path(path), _driver(driver))
    return open_capture(path)


def replay(capture: str | Path | Capture, driver: str = "", until: int | None = None) -> Replayed:
    """Replay a capture's calls (up to call `until`); on the driver that recorded it, bit by bit."""
    from gallette.capture import replay as run

    return run(capture, driver, until)


def diff(
    capture: str | Path,
    driver: str | None = None,
    against: str = "native",
    tolerance: float = 1.0,
) -> CaptureDiff:
    """Replay a capture on two drivers and compare after every draw; `.first` is the first that
    differs.
    """
    from gallette.capture.differ import diff_capture

    if tolerance < 0:
        raise GalletteError(f"tolerance: 0 or more steps of 1/255, not {tolerance}")
    return diff_capture(capture, _driver(driver), against, tolerance)


def pixel(target: str, x: int, y: int, driver: str | None = None, sample: int = 0) -> History:
    """Everything that changed pixel (x, y) of a scene, shader_test or capture; y counts upwards."""
    from gallette.capture.targets import check_target
    from gallette.history import pixel_history

    check_target(target, "target")
    return pixel_history(target, x, y, _driver(driver), sample)


def debug(target: str, x: int, y: int, driver: str | None = None, draw: int = 0) -> Session:
    """The last fragment of a pixel (of pipe call `draw`), every instruction with its value."""
    from gallette.capture.targets import check_target
    from gallette.debugger import debug_fragment

    check_target(target, "target")
    return debug_fragment(target, x, y, _driver(driver), draw)[0]


def explain(file: str | Path, driver: str | None = None, stage: str | None = None) -> Explanation:
    """How a shader compiles: every pass, every variant and the code that runs."""
    from gallette.explaining import explain_file

    return explain_file(str(file), _driver(driver), stage)


def compare_images(ours: Pixels, theirs: Pixels, tolerance: float = 1.0) -> PassDiff:
    """Compare two pictures of one size (bytes or floats): coverage, largest difference, heat
    map.
    """
    from gallette.compare import compare_passes
    from gallette.scenes.common import Pass

    sides = []
    for name, pixels in (("ours", ours), ("theirs", theirs)):
        array = np.asarray(pixels)
        if array.ndim != 3 or array.shape[2] not in (3, 4):
            raise GalletteError(f"{name}: an RGB or RGBA picture, not shape {array.shape}")
        if array.shape[2] == 3:
            opaque = 255 if array.dtype == np.uint8 else 1
            array = np.concatenate([array, np.full_like(array[..., :1], opaque)], axis=2)
        sides.append(Pass(name, array, array[..., 3] > 0))
    if sides[0].color.shape != sides[1].color.shape:
        raise GalletteError("theirs: pictures of one size can be compared")
    return compare_passes(sides[0], sides[1], tolerance)
