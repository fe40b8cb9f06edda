"""KHR_debug: messages, groups, labels. Every GL error is reported as a message, too."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError, invalid_enum, invalid_value
from gallette.state_tracker.entry_points.memory import Pointer, read_array, write_bytes
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.object_kinds import LABELLED

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.objects import GLObject

MAX_MESSAGES, MAX_LENGTH, MAX_GROUPS, MAX_LABEL = 64, 4096, 64, 256
_SOURCES = frozenset(range(GL.DEBUG_SOURCE_API, GL.DEBUG_SOURCE_OTHER + 1))
_SEVERITIES = frozenset(
    (GL.DEBUG_SEVERITY_HIGH, GL.DEBUG_SEVERITY_MEDIUM, GL.DEBUG_SEVERITY_LOW,
     GL.DEBUG_SEVERITY_NOTIFICATION)
)  # fmt: skip
_TYPES = frozenset(range(GL.DEBUG_TYPE_ERROR, GL.DEBUG_TYPE_OTHER + 1)) | frozenset(
    (GL.DEBUG_TYPE_MARKER, GL.DEBUG_TYPE_PUSH_GROUP, GL.DEBUG_TYPE_POP_GROUP)
)
_APPLICATION = frozenset((GL.DEBUG_SOURCE_APPLICATION, GL.DEBUG_SOURCE_THIRD_PARTY))


@lazy_dataclass(frozen=True)
class DebugMessage:
    """One message."""

    source: int
    type: int
    id: int
    severity: int
    text: str


class DebugState:
    """The message log, the callback, the group stack."""

    def __init__(self, ctx: Context):
        self.enabled = ctx.debug_context
        self.synchronous = False
        self.log: deque[DebugMessage] = deque(maxlen=MAX_MESSAGES)
        self.groups: list[DebugMessage] = []
        self.callback: Any = None
        self.callback_address = 0
        self.user_param: int | None = None
        # (source, type, severity, id) -> on; GL_DONT_CARE and None match anything; last rule wins.
        self.rules: list[tuple[int, int, int, int | None, bool]] = [
            (GL.DONT_CARE, GL.DONT_CARE, GL.DEBUG_SEVERITY_LOW, None, False)
        ]
        self.outer_rules: list[list[tuple[int, int, int, int | None, bool]]] = []

    def post(self, message: DebugMessage) -> None:
        if not self.enabled or not self._wanted(message):
            return
        if self.callback is None:
            if len(self.log) < MAX_MESSAGES:
                self.log.append(message)
            return
        raw = message.text.encode()
        self.callback(
            message.source,
            message.type,
            message.id,
            message.severity,
            len(raw),
            raw,
            self.user_param,
        )

    def _wanted(self, message: DebugMessage) -> bool:
        on = True
        for source, type, severity, id, flag in self.rules:
            if (
                source in (GL.DONT_CARE, message.source)
                and type in (GL.DONT_CARE, message.type)
                and severity in (GL.DONT_CARE, message.severity)
                and id in (None, message.id)
            ):
                on = flag
        return on

    def error(self, code: int, text: str) -> None:
        if self.enabled:
            message = DebugMessage(
                GL.DEBUG_SOURCE_API, GL.DEBUG_TYPE_ERROR, code, GL.DEBUG_SEVERITY_HIGH, text
            )
            self.post(message)


_CALLBACK = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_int32,
    ctypes.c_char_p,
    ctypes.c_void_p,
)


@entry
def debug_message_callback(ctx: Context, callback: Any, user_param: int | None) -> None:
    """`callback` is a C function pointer, or a Python callable with the same arguments."""
    state = ctx.debug
    state.user_param = user_param
    if callback is None or callback == 0:
        state.callback, state.callback_address = None, 0
    elif isinstance(callback, int):
        state.callback, state.callback_address = _CALLBACK(callback), callback
    else:
        state.callback, state.callback_address = callback, 0
    ctx.reconsider_recording()


@entry
def debug_message_control(
    ctx: Context, source: int, type: int, severity: int, count: int, ids: Pointer, enabled: int
) -> None:
    if count < 0:
        raise invalid_value("negative count")
    if source not in _SOURCES and source != GL.DONT_CARE:
        raise invalid_enum(source, "message source")
    if type not in _TYPES and type != GL.DONT_CARE:
        raise invalid_enum(type, "message type")
    if severity not in _SEVERITIES and severity != GL.DONT_CARE:
        raise invalid_enum(severity, "message severity")
    if count and (severity != GL.DONT_CARE or source == GL.DONT_CARE or type == GL.DONT_CARE):
        raise GLError(GL.INVALID_OPERATION, "ids need a source and a type, and no severity")
    named: list[int | None] = [int(i) for i in read_array(ids, "uint", count)] if count else [None]
    for id in named:
        ctx.debug.rules.append((source, type, severity, id, bool(enabled)))


def _check_message(source: int, text: str | None) -> None:
    if source not in _APPLICATION:
        raise invalid_enum(source, "source of an application's message")
    if text is None:  # a null pointer
        raise invalid_value("there is no message")
    if len(text.encode()) >= MAX_LENGTH:
        raise invalid_value("the message is too long")


@entry
def debug_message_insert(
    ctx: Context, source: int, type: int, id: int, severity: int, length: int, buf: str
) -> None:
    if severity not in _SEVERITIES:
        raise invalid_enum(severity, "message severity")
    if type not in _TYPES:
        raise invalid_enum(type, "message type")
    _check_message(source, buf)
    ctx.debug.post(DebugMessage(source, type, id, severity, buf))


@entry
def push_debug_group(ctx: Context, source: int, id: int, length: int, message: str) -> None:
    _check_message(source, message)
    if len(ctx.debug.groups) >= MAX_GROUPS - 1:
        raise GLError(GL.STACK_OVERFLOW, "too many debug groups")
    note = GL.DEBUG_SEVERITY_NOTIFICATION
    ctx.debug.post(DebugMessage(source, GL.DEBUG_TYPE_PUSH_GROUP, id, note, message))
    ctx.debug.groups.append(DebugMessage(source, GL.DEBUG_TYPE_POP_GROUP, id, note, message))
    ctx.debug.outer_rules.append(list(ctx.debug.rules))


@entry
def pop_debug_group(ctx: Context) -> None:
    if not ctx.debug.groups:
        raise GLError(GL.STACK_UNDERFLOW, "no debug group is open")
    ctx.debug.rules = ctx.debug.outer_rules.pop()  # changes inside the group end with it
    ctx.debug.post(ctx.debug.groups.pop())


@entry
def get_debug_message_log(
    ctx: Context, count: int, room: Any, sources: Any, types: Any, ids: Any, severities: Any,
    lengths: Any, texts: Any,
) -> Any:  # fmt: skip
    """Take messages out of the log; Python callers who pass only a count get `DebugMessage`s."""
    log, taken = ctx.debug.log, list[DebugMessage]()
    python = room is OMITTED
    if not python and texts is not None and room < 0:
        raise invalid_value("negative buffer size")
    used = 0
    while log and len(taken) < count:
        size = len(log[0].text.encode()) + 1
        if not python and texts is not None and used + size > room:
            break
        used += size
        taken.append(log.popleft())
    if python:
        return taken
    for pointer, field in (
        (sources, "source"),
        (types, "type"),
        (ids, "id"),
        (severities, "severity"),
    ):
        if pointer is not None and pointer is not OMITTED:
            write_bytes(pointer, np.array([getattr(m, field) for m in taken], np.uint32))
    raw = [m.text.encode() + b"\0" for m in taken]
    if lengths is not None and lengths is not OMITTED:
        write_bytes(lengths, np.array([len(t) for t in raw], np.int32))
    if texts is not None and texts is not OMITTED:
        write_bytes(texts, b"".join(raw))
    return len(taken)


# -- labels ----------------------------------------------------------------------------------------


def _labelled(ctx: Context, identifier: int, name: int) -> GLObject:
    tables = LABELLED | dict.fromkeys((GL.SHADER, GL.PROGRAM), lambda ctx: ctx.programs.names)
    if ctx.is_compat:
        tables[GL.DISPLAY_LIST] = lambda ctx: ctx.lists.names
    if identifier not in tables:
        raise invalid_enum(identifier, "kind of object")
    found: GLObject | None = tables[identifier](ctx).get(name)
    wanted = {GL.SHADER: "shader", GL.PROGRAM: "program"}.get(identifier)
    if found is None or (wanted is not None and found.kind != wanted):
        raise invalid_value(f"{name} is not the name of such an object")
    return found


@entry
def object_label(ctx: Context, identifier: int, name: int, length: int, label: str | None) -> None:
    found = _labelled(ctx, identifier, name)
    if label is not None and len(label.encode()) >= MAX_LABEL:
        raise invalid_value("the label is too long")
    found.label = label or ""


@entry
def get_object_label(ctx: Context, identifier: int, name: int) -> str:
    return _labelled(ctx, identifier, name).label


_OBJECTS_OF_EXT: dict[int, int] = {
    GL.BUFFER_OBJECT_EXT: GL.BUFFER,
    GL.SHADER_OBJECT_EXT: GL.SHADER,
    GL.PROGRAM_OBJECT_EXT: GL.PROGRAM,
    GL.VERTEX_ARRAY_OBJECT_EXT: GL.VERTEX_ARRAY,
    GL.QUERY_OBJECT_EXT: GL.QUERY,
}


@entry
def label_object_ext(ctx: Context, type: int, object: int, length: int, label: str | None) -> None:
    if length < 0:
        raise invalid_value("negative length of a label")
    found = _labelled(ctx, _OBJECTS_OF_EXT.get(type, type), object)
    found.label = label or ""


@entry
def get_object_label_ext(ctx: Context, type: int, object: int) -> str:
    return _labelled(ctx, _OBJECTS_OF_EXT.get(type, type), object).label


@entry
def object_ptr_label(ctx: Context, ptr: int, length: int, label: str | None) -> None:
    ctx.syncs.require(ptr)
    if label is not None and len(label.encode()) >= MAX_LABEL:
        raise invalid_value("the label is too long")
    ctx.syncs.labels[ptr] = label or ""


@entry
def get_object_ptr_label(ctx: Context, ptr: int) -> str:
    ctx.syncs.require(ptr)
    return ctx.syncs.labels.get(ptr, "")


POINTER_QUERIES: list[Callable[[Context, int], int | None]] = []
"""what answers glGetPointerv in the compatibility profile"""


@entry
def get_pointerv(ctx: Context, pname: int) -> list[int]:
    if pname == GL.DEBUG_CALLBACK_FUNCTION:
        return [ctx.debug.callback_address]
    if pname == GL.DEBUG_CALLBACK_USER_PARAM:
        return [ctx.debug.user_param or 0]
    for query in POINTER_QUERIES if ctx.is_compat else ():
        pointer = query(ctx, pname)
        if pointer is not None:
            return [pointer]
    raise invalid_enum(pname, "pointer query")


def _next_length(ctx: Context) -> int:
    return len(ctx.debug.log[0].text.encode()) + 1 if ctx.debug.log else 0


gets(
    {
        "DEBUG_LOGGED_MESSAGES": lambda c: len(c.debug.log),
        "DEBUG_NEXT_LOGGED_MESSAGE_LENGTH": _next_length,
        "DEBUG_GROUP_STACK_DEPTH": lambda c: len(c.debug.groups) + 1,
        "MAX_DEBUG_MESSAGE_LENGTH": lambda c: MAX_LENGTH,
        "MAX_DEBUG_LOGGED_MESSAGES": lambda c: MAX_MESSAGES,
        "MAX_DEBUG_GROUP_STACK_DEPTH": lambda c: MAX_GROUPS,
        "MAX_LABEL_LENGTH": lambda c: MAX_LABEL,
    }
)
