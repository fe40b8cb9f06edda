"""PyOpenGL's platform plugin: its functions come from gallette's libraries."""

from __future__ import annotations

import ctypes
from typing import Any

from OpenGL.platform import baseplatform, ctypesloader

from gallette.egl.libraries import folder


class GallettePlatform(baseplatform.BasePlatform):  # type: ignore[misc]
    """Functions by name from libGL, contexts identified by EGL's handle."""

    DEFAULT_FUNCTION_TYPE = staticmethod(ctypes.CFUNCTYPE)
    GLUT_GUARD_CALLBACKS = False

    def _load(self, name: str) -> Any:
        return ctypes.CDLL(str(folder() / name), mode=ctypes.RTLD_GLOBAL)

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def GL(self) -> Any:
        return self._load("libGL.so.1")

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def EGL(self) -> Any:
        return self._load("libEGL.so.1")

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def GLES1(self) -> Any:
        return self._load("libGLESv1_CM.so.1")

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def GLES2(self) -> Any:
        return self._load("libGLESv2.so.2")

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def OSMesa(self) -> Any:
        return self._load("libOSMesa.so.8")

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def GLU(self) -> Any:
        """Load GLU, which finds the loaded libGL by name."""
        assert self.GL is not None
        try:
            return ctypesloader.loadLibrary(ctypes.cdll, "GLU", mode=ctypes.RTLD_GLOBAL)
        except OSError:
            return None

    GLUT = GLE = None

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def getExtensionProcedure(self) -> Any:
        from gallette.egl.install import get_proc_address

        return lambda name: get_proc_address(name.decode() if isinstance(name, bytes) else name)

    @baseplatform.lazy_property  # type: ignore[untyped-decorator]
    def GetCurrentContext(self) -> Any:
        from gallette.state_tracker.entry_points.current import current_context

        def number() -> int:
            context = current_context()
            return id(context) if context is not None else 0

        return number
