"""EGL sync objects and images."""

from __future__ import annotations

import threading
from typing import Any

from gallette.egl.constants import EGL, Error
from gallette.egl.contexts import current
from gallette.egl.display import Display, attributes, display_of
from gallette.egl.errors import EglError, check
from gallette.egl.functions import _store, _store_wide
from gallette.egl.images import Image, source_of
from gallette.egl.registry import c_function


class Sync:
    """A fence after the context's commands, or a flag that the application sets."""

    def __init__(self, kind: int):
        self.kind = kind
        self.flag = threading.Event()
        self.fence: Any = None

    def signaled(self, nanoseconds: int = 0) -> bool:
        if self.kind == EGL.SYNC_FENCE:
            return bool(self.fence.wait(min(nanoseconds, (1 << 63) - 1)))
        return self.flag.wait(nanoseconds / 1e9 if nanoseconds < 1 << 62 else None)


def _sync(display: int, handle: int) -> tuple[Display, Sync]:
    owner = display_of(display)
    check(handle in owner.syncs, Error.BAD_PARAMETER, f"{handle:#x} is not a sync object")
    return owner, owner.syncs[handle]


def _create(display: int, kind: int, given: dict[int, int]) -> int:
    owner, context = display_of(display), current()
    check(not given, Error.BAD_ATTRIBUTE, "a sync object has no attributes to set")
    kinds = (EGL.SYNC_FENCE, EGL.SYNC_REUSABLE_KHR)
    check(kind in kinds, Error.BAD_ATTRIBUTE, f"0x{kind:04X} is not a kind of sync")
    sync = Sync(kind)
    if kind == EGL.SYNC_FENCE:
        here = context is not None and context.display is owner
        check(here, Error.BAD_MATCH, "no context of this display is current")
        assert context is not None
        with context.gl.using_pipe():
            sync.fence = context.gl.pipe.flush()
    owner.syncs[id(sync)] = sync
    return id(sync)


@c_function("pup:p")
def eglCreateSync(display: int, kind: int, attribs: int) -> int:
    return _create(display, kind, attributes(attribs, True))


@c_function("pup:p", "eglCreateSync64KHR")
def eglCreateSyncKHR(display: int, kind: int, attribs: int) -> int:
    return _create(display, kind, attributes(attribs))


@c_function("pp:u", "eglDestroySyncKHR")
def eglDestroySync(display: int, sync: int) -> int:
    owner, found = _sync(display, sync)
    found.flag.set()
    del owner.syncs[sync]
    return 1


@c_function("ppit:i", "eglClientWaitSyncKHR", waits=True)
def eglClientWaitSync(display: int, sync: int, flags: int, timeout: int) -> int:
    found = _sync(display, sync)[1]
    return EGL.CONDITION_SATISFIED if found.signaled(timeout) else EGL.TIMEOUT_EXPIRED


@c_function("ppi:i", "eglWaitSyncKHR", waits=True)
def eglWaitSync(display: int, sync: int, flags: int) -> int:
    found = _sync(display, sync)[1]
    check(current() is not None, Error.BAD_MATCH, "no context is current")
    check(not flags, Error.BAD_PARAMETER, "there are no flags")
    found.signaled((1 << 63) - 1)
    return 1


@c_function("ppu:u")
def eglSignalSyncKHR(display: int, sync: int, mode: int) -> int:
    found = _sync(display, sync)[1]
    check(found.kind == EGL.SYNC_REUSABLE_KHR, Error.BAD_MATCH, "fences signal themselves")
    check(mode in (EGL.SIGNALED, EGL.UNSIGNALED), Error.BAD_PARAMETER, "signaled or not")
    if mode == EGL.SIGNALED:
        found.flag.set()
    else:
        found.flag.clear()
    return 1


def _query(display: int, sync: int, attribute: int) -> int:
    found = _sync(display, sync)[1]
    values = {
        EGL.SYNC_TYPE: found.kind,
        EGL.SYNC_STATUS: EGL.SIGNALED if found.signaled() else EGL.UNSIGNALED,
    }
    if found.kind == EGL.SYNC_FENCE:
        values[EGL.SYNC_CONDITION] = EGL.SYNC_PRIOR_COMMANDS_COMPLETE
    check(attribute in values, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not an attribute")
    return values[attribute]


@c_function("ppip:u")
def eglGetSyncAttrib(display: int, sync: int, attribute: int, value: int) -> int:
    _store_wide(value, _query(display, sync, attribute))
    return 1


@c_function("ppip:u")
def eglGetSyncAttribKHR(display: int, sync: int, attribute: int, value: int) -> int:
    _store(value, _query(display, sync, attribute))
    return 1


# -- images ----------------------------------------------------------------------------------------


def _create_image(
    display: int, context: int, target: int, buffer: int, given: dict[int, int]
) -> int:
    owner = display_of(display)
    check(context, Error.BAD_CONTEXT, "images of textures need their context")
    image = Image(source_of(owner.context(context).gl, target, buffer, given))
    owner.images[id(image)] = image
    return id(image)


@c_function("ppupp:p")
def eglCreateImage(display: int, context: int, target: int, buffer: int, attribs: int) -> int:
    return _create_image(display, context, target, buffer, attributes(attribs, True))


@c_function("ppupp:p")
def eglCreateImageKHR(display: int, context: int, target: int, buffer: int, attribs: int) -> int:
    return _create_image(display, context, target, buffer, attributes(attribs))


@c_function("pp:u", "eglDestroyImageKHR")
def eglDestroyImage(display: int, image: int) -> int:
    owner = display_of(display)
    found = owner.images.pop(image, None)
    if found is None:
        raise EglError(Error.BAD_PARAMETER, f"{image:#x} is not an image")
    found.release()
    return 1
