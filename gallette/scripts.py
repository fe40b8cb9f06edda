"""A user's moderngl script as a scene: its passes are the pictures that it reads or marks.

The script runs unmodified, but all contexts that it creates with moderngl are on the driver under
test. Every `Framebuffer.read` (or `read_into`) and every `Texture.read` of a picture gives a pass,
named by its line; a script marks other pictures for comparison with

    import gallette
    gallette.mark("shadow map", framebuffer)    # does nothing outside of `gallette diff`

and one that reads and marks nothing gives what is in the last framebuffer it used.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gallette.scenes.common import Pass

_taking: list[Callable[[str, Any], None]] = []


def mark(name: str, framebuffer: Any) -> None:
    """Mark the picture in a moderngl framebuffer for comparison."""
    for take in _taking:
        take(name, framebuffer)


def run_script(path: Path, window: Callable[[], Any], on_pass: Callable[[Pass], None]) -> None:
    """Run a script on windows that gallette creates; `on_pass` is called with every picture."""
    run = _Run(str(path.resolve()), window, on_pass)
    before = sys.argv, list(sys.path)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.resolve().parent))
    _taking.append(run.take)
    try:
        with run.patched(), redirect_stdout(sys.stderr):
            runpy.run_path(str(path), run_name="__main__")
            run.finish()
    except SystemExit as end:
        if end.code not in (None, 0):
            raise GalletteError(f"{path}: ended with status {end.code}") from None
    finally:
        _taking.remove(run.take)
        sys.argv, sys.path[:] = before
        run.release()


class _Run:
    """One run of a script: its windows, and the names of its passes so far."""

    def __init__(self, path: str, window: Callable[[], Any], on_pass: Callable[[Pass], None]):
        self.path, self._window, self._on_pass = path, window, on_pass
        self._windows: list[Any] = []
        self._context: Any = None
        self._names: dict[str, int] = {}
        self._busy = False

    # -- where contexts come from ------------------------------------------------------------------

    @contextmanager
    def patched(self) -> Iterator[None]:
        import moderngl

        make = moderngl.create_context
        reads = [(kind, name, getattr(kind, name)) for kind, name in _readers()]

        def create_context(require: int | None = None, *_: Any, **__: Any) -> Any:
            window = self._window()
            self._windows.append(window)
            self._context = make(require, standalone=True, context=window)
            self._context.extra = window
            return self._context

        def get_context() -> Any:
            return self._context if self._context is not None else create_context()

        replaced = {
            "create_context": create_context,
            "create_standalone_context": create_context,
            "get_context": get_context,
        }
        old = {name: getattr(moderngl, name) for name in replaced if hasattr(moderngl, name)}
        for name in old:
            setattr(moderngl, name, replaced[name])
        for kind, name, read in reads:
            setattr(kind, name, self._reader(read))
        try:
            yield
        finally:
            for name, function in old.items():
                setattr(moderngl, name, function)
            for kind, name, read in reads:
                setattr(kind, name, read)

    def release(self) -> None:
        for window in self._windows:
            try:
                window.release()
            except GalletteError as error:
                print(error, file=sys.stderr)

    # -- what is a pass ----------------------------------------------------------------------------

    def _reader(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(picture: Any, *args: Any, **kwargs: Any) -> Any:
            found = read(picture, *args, **kwargs)
            if not self._busy:
                self.take(self._place(), picture, kwargs.get("attachment", 0))
            return found

        return reading

    def _place(self) -> str:
        """The line of the script that reads the picture."""
        frame: Any = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return f"line {frame.f_lineno}" if frame is not None else "read"

    def take(self, name: str, picture: Any, attachment: int = 0) -> None:
        """Keep the contents of a framebuffer (or a texture)."""
        if self._busy or attachment < 0:
            return
        self._busy = True
        try:
            found = _picture(self._context, picture, attachment)
        finally:
            self._busy = False
        if found is None:
            return
        number = self._names[name] = self._names.get(name, 0) + 1
        color, coverage = found
        from gallette.scenes.common import Pass

        self._on_pass(Pass(name if number == 1 else f"{name}, {number}", color, coverage))

    def finish(self) -> None:
        """Take the last used framebuffer of a script that has read and marked nothing."""
        if not self._names and self._context is not None and self._context.fbo is not None:
            self.take("at the end", self._context.fbo)


def _readers() -> list[tuple[Any, str]]:
    import moderngl

    return [
        (moderngl.Framebuffer, "read"),
        (moderngl.Framebuffer, "read_into"),
        (moderngl.Texture, "read"),
    ]


def _picture(context: Any, picture: Any, attachment: int) -> tuple[Any, Any] | None:
    """Colour and coverage of a framebuffer's attachment or a texture; None if it is not a
    colour.
    """
    import moderngl
    import numpy as np

    from gallette.scenes.common import capture, capture_depth

    if isinstance(picture, moderngl.Texture):
        if picture.depth:
            taken = capture_depth("", picture)
            return taken.color, taken.coverage
        if picture.dtype not in ("f1", "f2", "f4") or picture.samples:
            return None
        holder = context.framebuffer([picture])
        taken = capture("", holder)
        holder.release()
    elif picture.color_attachments:
        if picture.color_attachments[attachment].dtype not in ("f1", "f2", "f4"):
            return None
        taken = capture("", picture, attachment=attachment)
    else:
        return None
    color = taken.color if taken.color.dtype == np.uint8 else np.nan_to_num(taken.color)
    return color, taken.coverage
