"""Arguments of GL calls as JSON, by the table of functions, and back.

>>> from gallette.state_tracker.entry_points.functions import FUNCTIONS
>>> encoder(FUNCTIONS["Uniform2fv"]).function.name
'Uniform2fv'
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gallette.capture.container import CaptureWriter
from gallette.state_tracker.entry_points.dispatch import converter
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import Function, Kind, Param
from gallette.state_tracker.entry_points.memory import address_of, dtype_of

Reads = list[tuple[int, bytes]]
INLINE = 64  # bytes of numbers that are written out


def keeps_pointer(function: Function) -> bool:
    """Whether the call only stores a pointer, which later calls read from (client arrays)."""
    name = function.name
    return ("Pointer" in name and not name.startswith("Get")) or name == "InterleavedArrays"


class Encoder:
    """Encodes the arguments of one function."""

    def __init__(self, function: Function):
        self.function = function
        self.raw_output = function.is_raw
        self.reads_arrays = "Draw" in function.name or function.name == "ArrayElement"
        self._keeps = keeps_pointer(function)
        params = function.params
        self._simple = all(p.kind is Kind.VALUE and not p.stars for p in params)
        self._texts = any(p.kind is Kind.STRINGS for p in params)
        self._converters = [converter(function, i) for i in range(len(params))]
        self._generates = function.name.startswith(("Gen", "Create")) and bool(function.outputs)
        self._result = function.result != "void" and function.result != "void*"

    def __call__(
        self,
        args: tuple[Any, ...],
        reads: Reads,
        writer: CaptureWriter,
        more: dict[str, Any],
        result: Any,
        written: Any,
    ) -> tuple[list[Any], Reads]:
        """The arguments as JSON, and the memory reads that no argument accounts for. `more`
        receives results.

        `written` is the data that the call stored in the caller's memory, or None.
        """
        if self._result:
            got = result[0] if isinstance(result, tuple) and result else result
            if isinstance(got, int) and got:
                more["r"] = got
        if self._simple:
            return list(args), reads
        if self._texts:
            args = self.function.with_count(args)
        if self._generates:
            self._names(args, result, written, more)
        out: list[Any] = []
        for i, param in enumerate(self.function.params):
            if i >= len(args):
                break
            value = args[i]
            if (param.kind is Kind.VALUE and not param.stars) or param.kind is Kind.CAPACITY:
                out.append(value)
            elif param.kind in (Kind.STRING, Kind.STRINGS):
                out.append(self._text(i, args))
            elif param.kind is Kind.POINTER:
                item, reads = self._pointer(param, value, reads, writer)
                out.append(item)
            elif param.kind is Kind.OUT_RAW and isinstance(value, int):
                out.append({"@": value})
            else:
                out.append(None)
        # Python callers may leave out the room for some outputs with the outputs.
        out += [0] * (self.function.required - len(out))
        return out, reads

    def _text(self, index: int, args: tuple[Any, ...]) -> Any:
        convert = self._converters[index]
        try:
            found = convert(args) if convert is not None else args[index]
        except GLError:
            return None
        return [_whole(t) for t in found] if isinstance(found, list) else _whole(found)

    def _names(
        self, args: tuple[Any, ...], result: Any, written: Any, more: dict[str, Any]
    ) -> None:
        """The names that a call generated, wherever the caller requested them; none if it
        failed.
        """
        names = result
        if names is None and written is not None:
            param = next(p for p in self.function.params if p.kind is Kind.OUT_ARRAY)
            names = np.frombuffer(written, dtype_of(param.type)).tolist()
        if names and names[0]:  # 0 is what a failed call returns
            more["o"] = list(names)

    def _pointer(
        self, param: Param, value: Any, reads: Reads, writer: CaptureWriter
    ) -> tuple[Any, Reads]:
        if value is None:
            return None, reads
        if self._keeps and param is self.function.params[-1]:
            return {"@": address_of(value, param.type)[0] or 0}, reads
        if isinstance(value, int | np.integer):
            data, left = _gathered(int(value), reads)
            if not data:
                return {"@": int(value)}, reads
            if param.stars > 1:  # addresses of memory that is found among the other reads
                return np.frombuffer(data, np.int64).tolist(), left
            return _bulk(param, data, writer), left
        if isinstance(value, list | tuple):
            value = np.array(value, dtype_of(param.type) if param.stars == 1 else np.dtype("i8"))
        data = value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes()
        if param.stars > 1:
            return np.frombuffer(data, np.int64).tolist(), reads
        return _bulk(param, data, writer), reads


def _whole(text: Any) -> Any:
    """A text without lone surrogates, which Python callers may pass."""
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else text


def _gathered(address: int, reads: Reads) -> tuple[bytes, Reads]:
    """The bytes read from an address on, and all other reads."""
    data = bytearray()
    left: Reads = []
    for start, part in sorted(reads, key=lambda r: (r[0], -len(r[1]))):
        if address <= start <= address + len(data) and (data or start == address):
            data[start - address : start - address + len(part)] = part
        else:
            left.append((start, part))
    return bytes(data), left


def _bulk(param: Param, data: bytes, writer: CaptureWriter) -> Any:
    """A few numbers in full, anything else by its hash."""
    dtype = dtype_of(param.type)
    if len(data) <= INLINE and param.type != "void" and len(data) % dtype.itemsize == 0:
        numbers = np.frombuffer(data, dtype).tolist()
        if dtype.kind != "f" or all(n == n for n in numbers):  # the bits of a NaN are kept
            return numbers
    return {"b": writer.blob(data)}


@functools.cache
def encoder(function: Function) -> Encoder:
    """The function's encoder."""
    return Encoder(function)


_KINDS = {
    "buffer": "buffer",
    "buffers": "buffer",
    "readBuffer": "buffer",
    "writeBuffer": "buffer",
    "texture": "texture",
    "textures": "texture",
    "origtexture": "texture",
    "framebuffer": "framebuffer",
    "framebuffers": "framebuffer",
    "drawFramebuffer": "framebuffer",
    "readFramebuffer": "framebuffer",
    "renderbuffer": "renderbuffer",
    "renderbuffers": "renderbuffer",
    "array": "vertex array",
    "arrays": "vertex array",
    "vaobj": "vertex array",
    "sampler": "sampler",
    "samplers": "sampler",
    "program": "program",
    "programObj": "program",
    "containerObj": "program",
    "shader": "program",
    "shaders": "program",
    "shaderObj": "program",
    "obj": "program",
    "attachedObj": "program",
    "pipeline": "pipeline",
    "pipelines": "pipeline",
    "xfb": "transform feedback",
    "list": "list",
    "lists": "list",
    "sync": "sync",
}


@functools.cache
def object_kind(function: str, param: str, type: str) -> str:
    """The kind of object that a parameter names, "" if it names none."""
    if type not in ("uint", "sync"):
        return ""
    if param in ("id", "ids"):
        if "Query" in function or "Queries" in function or "Conditional" in function:
            return "query"
        return "transform feedback" if "TransformFeedback" in function else ""
    if function.endswith(("ProgramARB", "ProgramsARB")) and param in ("program", "programs"):
        return ""  # assembly programs: the names are the caller's
    return _KINDS.get(param, "")
