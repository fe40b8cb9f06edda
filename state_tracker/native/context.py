"""The machine's own OpenGL behind the same Python interface as gallette's.

    >>> with NativeContext("llvmpipe", profile="core", version=(3, 3)) as gl:
    ...     gl.get_string(GL.RENDERER)

Every method is made from the function table when it is first used. moderngl accepts the context:
`moderngl.create_context(standalone=True, context=gl)`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.interface import GLInterface
from gallette.state_tracker.entry_points.marshal import missing, native_method
from gallette.state_tracker.entry_points.memory import address_of
from gallette.state_tracker.native.egl import EglContext, EglSurface
from gallette.state_tracker.pixel_data.pixels import PackState, image_size


class NativeContext(GLInterface):
    """A context of the native GL; `driver` names a Mesa driver, "" is the machine's choice."""

    def __init__(
        self,
        driver: str = "",
        *,
        profile: str = "core",
        version: tuple[int, int] = (3, 3),
        debug: bool = False,
        size: tuple[int, int] | None = None,
        samples: int = 0,
        share: NativeContext | None = None,
        windows: bool = False,
    ):
        """`share`: a context of the same driver to share objects with; `windows`: framebuffers of
        `window` will be bound.
        """
        self.profile, self.requested_version = profile, version
        shared = None if share is None else share._egl
        self._egl: EglContext = EglContext(
            driver, profile, version, debug, size, samples, shared, windows
        )
        self._retained: dict[tuple[str, Any], Any] = {}
        self.make_current()

    def __getattr__(self, name: str) -> Any:
        try:
            function = FUNCTIONS.method(name)
        except KeyError:
            raise AttributeError(f"OpenGL has no function for {name!r}") from None
        address = self._egl.get_proc_address(function.c_name)
        if not address:
            method = missing(function)
        else:
            prototype = ctypes.CFUNCTYPE(function.restype, *function.argtypes)
            method = native_method(function, prototype(address), self._measure)
            if "Pointer" in function.name and not function.name.startswith("Get"):
                method = self._retaining(function, method)
        setattr(self, name, method)
        return method

    def _retaining(self, function: Function, method: Callable[..., Any]) -> Callable[..., Any]:
        """Keep the memory of client arrays alive, which are read long after the call."""

        def call(*args: Any) -> Any:
            address, keep = address_of(args[-1])
            first = args[0] if function.params[0].name == "index" else None
            self._retained[(function.name, first)] = keep
            return method(*args[:-1], address)

        return call

    def _measure(self, function: Function, args: tuple[Any, ...]) -> int:
        """The size of an image output in bytes, by the function's arguments and the current pack
        state.
        """
        named = {p.name: a for p, a in zip(function.params, args, strict=False)}
        for room in ("bufSize", "size"):
            if room in named:
                return int(named[room])
        if function.name == "ReadPixels":
            width, height, depth = named["width"], named["height"], 1
        elif function.name == "GetTexImage":
            target = named["target"]
            width, height, depth = (
                self.get_tex_level_parameteriv(target, named["level"], what)[0]
                for what in (GL.TEXTURE_WIDTH, GL.TEXTURE_HEIGHT, GL.TEXTURE_DEPTH)
            )
        elif function.name == "GetCompressedTexImage":
            what = GL.TEXTURE_COMPRESSED_IMAGE_SIZE
            found = self.get_tex_level_parameteriv(named["target"], named["level"], what)
            return int(found[0])
        else:
            raise GalletteError(f"{function.c_name}: pass the memory to write to")
        if self.profile == "es" and self.requested_version < (
            2,
            0,
        ):  # which has no other pack state
            pack = PackState(alignment=self.get_integerv(GL.PACK_ALIGNMENT)[0])
            return image_size(pack, width, height, 1, named["format"], named["type"])
        pack = PackState(
            alignment=self.get_integerv(GL.PACK_ALIGNMENT)[0],
            row_length=self.get_integerv(GL.PACK_ROW_LENGTH)[0],
            skip_rows=self.get_integerv(GL.PACK_SKIP_ROWS)[0],
            skip_pixels=self.get_integerv(GL.PACK_SKIP_PIXELS)[0],
            image_height=self.get_integerv(GL.PACK_IMAGE_HEIGHT)[0] if depth > 1 else 0,
        )
        return image_size(pack, width, height, max(depth, 1), named["format"], named["type"])

    def make_current(self) -> None:
        self._egl.make_current()

    def window(
        self, size: tuple[int, int], samples: int = 0, alpha: bool = True, depth: bool = True
    ) -> EglSurface:
        """A framebuffer, all zero, for `bind_drawables`, which has to follow, because no context is
        current afterwards. The caller releases it.
        """
        surface = self._egl.surface(size, samples, alpha, depth)
        clearing = NativeContext(
            self._egl.display.driver, profile="compat", version=(1, 0), windows=True
        )
        clearing.bind_drawables(surface, surface)
        clearing.clear_depth(0.0)
        clearing.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        clearing.release()
        return surface

    def bind_drawables(self, draw: EglSurface | None, read: EglSurface | None) -> None:
        """Use these as the default framebuffers, and make the context current."""
        self._egl.bound = (draw, read)
        self._egl.make_current()

    def release(self) -> None:
        self._egl.destroy()
        self._retained.clear()

    def load_opengl_function(self, name: str) -> int:
        return self._egl.get_proc_address(name)
