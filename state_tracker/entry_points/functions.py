"""The table of OpenGL functions, read from `data/gl_functions.txt`.

All code that depends on the form of a GL function uses this table: the Python methods of both
contexts (`methods.py`), the C function pointers for other programs (`abi.py`), the calls into a
native GL (`native.py`), tracing, and the availability of entry points by version. Each fact is
stated once, in the text file; a signature is parsed when it is first used, so importing this module
costs a few milliseconds.

    >>> str(FUNCTIONS["GenBuffers"])
    'glGenBuffers(sizei n, uint* buffers[n])'
    >>> FUNCTIONS.method("tex_image2d").name
    'TexImage2D'
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.text_tables import table_rows

DATA = Path(__file__).parent / "data"

# GL's C types. Pointers of all kinds are passed as addresses.
CTYPES: dict[str, Any] = {
    "bitfield": ctypes.c_uint32,
    "boolean": ctypes.c_uint8,
    "byte": ctypes.c_int8,
    "char": ctypes.c_char,
    "clampd": ctypes.c_double,
    "clampf": ctypes.c_float,
    "debugproc": ctypes.c_void_p,
    "double": ctypes.c_double,
    "enum": ctypes.c_uint32,
    "fixed": ctypes.c_int32,
    "float": ctypes.c_float,
    "half": ctypes.c_uint16,
    "int": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "intptr": ctypes.c_ssize_t,
    "short": ctypes.c_int16,
    "sizei": ctypes.c_int32,
    "sizeiptr": ctypes.c_ssize_t,
    "sync": ctypes.c_void_p,
    "ubyte": ctypes.c_uint8,
    "uint": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "ushort": ctypes.c_uint16,
}

_VENDORS = ("ARB", "EXT", "KHR", "OES", "NV", "AMD", "ATI", "MESA", "INTEL", "APPLE", "INGR")
_SUFFIX = re.compile(rf"^(.*?)({'|'.join(_VENDORS)})$")


class Kind(Enum):
    """The role of a parameter for the caller of the Python method."""

    VALUE = auto()  # a number
    STRING = auto()  # const char*: text in
    STRINGS = auto()  # const char**: several texts in
    POINTER = auto()  # other memory the function reads
    CAPACITY = auto()  # capacity of an output array or string; implied when outputs are omitted
    WRITTEN = auto()  # how much of it was filled; not part of the Python result
    OUT_SCALAR = auto()
    OUT_ARRAY = auto()
    OUT_STRING = auto()
    OUT_RAW = auto()  # memory the function fills itself, such as pixels

    @property
    def is_output(self) -> bool:
        return self in _OUTPUTS


_OUTPUTS = {Kind.OUT_SCALAR, Kind.OUT_ARRAY, Kind.OUT_STRING, Kind.OUT_RAW, Kind.WRITTEN}


@lazy_dataclass(frozen=True)
class Param:
    """One parameter: `type` without the GL prefix, `const` and stars."""

    type: str
    name: str
    kind: Kind
    stars: int = 0
    length: str = ""  # for output arrays: a parameter's name, a number, or "*"

    @property
    def ctype(self) -> Any:
        return ctypes.c_void_p if self.stars else CTYPES[self.type]


@lazy_dataclass(frozen=True)
class Function:
    """One entry point: its C name without `gl`, Python name, signature and where it exists."""

    name: str
    method: str
    result: str  # "void", "void*", "const ubyte*" or a key of CTYPES
    params: tuple[Param, ...]
    since: tuple[int, int] | None  # desktop GL version, None when only an extension or ES has it
    compat_only: bool
    es: tuple[int, int] | None
    extension: str | None
    es_until: tuple[int, int] | None = None  # the last version of ES that has it

    @property
    def c_name(self) -> str:
        return "gl" + self.name

    @property
    def restype(self) -> Any:
        """The ctypes result type: pointers as addresses, None for void."""
        if self.result == "void":
            return None
        return ctypes.c_void_p if self.result.endswith("*") else CTYPES[self.result]

    @property
    def argtypes(self) -> tuple[Any, ...]:
        return tuple(p.ctype for p in self.params)

    @property
    def outputs(self) -> tuple[Param, ...]:
        """The outputs that the Python method returns if the caller omits them."""
        return tuple(p for p in self.params if p.kind.is_output and p.kind is not Kind.WRITTEN)

    @property
    def is_raw(self) -> bool:
        return any(p.kind is Kind.OUT_RAW for p in self.params)

    @property
    def required(self) -> int:
        """The number of leading parameters that the Python caller must pass."""
        count = len(self.params)
        while count and (
            self.params[count - 1].kind.is_output or self.params[count - 1].kind is Kind.CAPACITY
        ):
            count -= 1
        return count

    @property
    def signature(self) -> Signature:
        """The Python method's signature: outputs may be omitted."""
        kind, found = Parameter.POSITIONAL_ONLY, []
        for i, p in enumerate(self.params):
            default = Parameter.empty if i < self.required else None
            found.append(Parameter(p.name, kind, default=default, annotation=_spell(p)))
        result = Signature.empty if self.result == "void" and not self.outputs else self.result
        if self.outputs and result in ("void", Signature.empty):
            result = ", ".join(p.name for p in self.outputs)
        return Signature(found, return_annotation=result)

    def with_count(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Insert the count of texts, which Python may omit: `shader_source(shader, text)`."""
        index = next((i for i, p in enumerate(self.params) if p.kind is Kind.STRINGS), 0)
        if not index or len(args) < index or not isinstance(args[index - 1], str | list | tuple):
            return args
        texts = args[index - 1]
        texts = [texts] if isinstance(texts, str) else list(texts)
        args = (*args[: index - 1], len(texts), texts, *args[index:])
        if self.params[-1].name == "length" and len(args) == len(self.params) - 1:
            args = (*args, None)
        return args

    def in_es(self, version: tuple[int, int]) -> bool:
        """Whether it is a core function of that version of OpenGL ES."""
        if self.es is None or version < self.es:
            return False
        return self.es_until is None or version <= self.es_until

    def available(
        self, profile: str, version: tuple[int, int], extensions: frozenset[str] = frozenset()
    ) -> bool:
        """Whether this entry point is part of a context of that profile, version and extension
        list.
        """
        if self.extension is not None:
            return self.extension in extensions
        if profile == "es":
            return self.in_es(version)
        if self.since is None or self.since > version:
            return False
        return profile == "compat" or not self.compat_only

    def __str__(self) -> str:
        text = f"{self.c_name}({', '.join(map(_spell, self.params))})"
        return text if self.result == "void" else f"{text} -> {self.result}"


def _spell(param: Param) -> str:
    const = param.stars and not param.kind.is_output
    length = param.length
    if param.kind is Kind.OUT_RAW:
        length = "raw"
    array = f"[{length}]" if length else ""
    return f"{'const ' if const else ''}{param.type}{'*' * param.stars} {param.name}{array}"


_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where words begin


def method_name(name: str) -> str:
    """`TexImage2D` -> `tex_image2d`, `BindBufferARB` -> `bind_buffer_arb`."""
    suffix = ""
    match = _SUFFIX.match(name)
    if match and match[1]:
        name, suffix = match[1], "_" + match[2].lower()
    return _WORDS.sub("_", name).lower() + suffix


_PARAM = re.compile(r"(const )?(\w+)(\**) (\w+)(?:\[([^\]]+)\])?$")
_LINE = re.compile(r"(\w+)\((.*)\)(?: -> (.*?))?(?: @es([\d.]+)(?:-([\d.]+))?)?$")


@functools.cache
def _parse_param(text: str) -> Param:
    match = _PARAM.match(text)
    if match is None:
        raise ValueError(f"bad parameter {text!r}")
    const, base, stars, name, length = match.groups()
    kind = Kind.VALUE
    if stars and const:
        kind = Kind.POINTER
        if base == "char":
            kind = Kind.STRINGS if len(stars) == 2 else Kind.STRING
    elif stars:
        kind = Kind.OUT_ARRAY if length else Kind.OUT_SCALAR
        if length == "raw":
            kind = Kind.OUT_RAW
        elif base == "char":
            kind = Kind.OUT_STRING
    return Param(base, name, kind, len(stars), "" if length == "raw" else length or "")


def _parse_params(text: str) -> tuple[Param, ...]:
    params = [_parse_param(part) for part in text.split(", ")] if text else []
    _mark_capacity(params)
    return tuple(params)


def _mark_capacity(params: list[Param]) -> None:
    """Find `sizei capacity, sizei* length` (or a lone bufSize) before the outputs."""
    if any(p.kind is Kind.OUT_RAW for p in params):
        return
    for i in range(len(params) - 2):
        room, length = params[i], params[i + 1]
        if (
            room.kind is Kind.VALUE
            and room.type in ("sizei", "int")
            and length.kind is Kind.OUT_SCALAR
            and length.name in ("length", "count", "stringlen")
        ):
            params[i] = Param(room.type, room.name, Kind.CAPACITY)
            params[i + 1] = Param(length.type, length.name, Kind.WRITTEN, 1)
            return


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


@functools.cache
def _parse(section: str, line: str) -> Function:
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f"bad line in the function table: {line!r}")
    name, params, result, es, es_until = match.groups()
    since, compat, extension = None, False, None
    if section.startswith("GL_"):
        extension = section.partition(" ")[0]
    elif not section.startswith("es "):
        version, _, profile = section.partition(" ")
        since, compat = _version(version), profile == "compat"
    return Function(
        name,
        method_name(name),
        result or "void",
        _parse_params(params),
        since,
        compat,
        _version(es) if es else None,
        extension,
        _version(es_until) if es_until else None,
    )


class FunctionTable(Mapping[str, Function]):
    """All functions by C name (without `gl`), in table order."""

    def __init__(self, rows: Iterable[str]):
        self._lines: dict[str, tuple[str, str]] = {}
        self._same: dict[str, str] = {}  # explicit aliases: `NewEXT = Core`
        self._also: dict[str, list[str]] = {}  # name -> further extensions that have it
        self.unlisted: dict[str, str] = {}  # extension -> a profile that has it without listing it
        section = ""
        for line in rows:
            if line[0] == "[":
                section = line[1:-1]
                if section.startswith("GL_") and " " in section:
                    extension, _, profile = section.partition(" ")
                    self.unlisted[extension] = profile
            elif " = " in line:
                name, core = line.split(" = ")
                self._same[name] = core
                self._lines[name] = (section, name + self._lines[core][1].removeprefix(core))
            elif "(" not in line:
                self._also.setdefault(line, []).append(section)
            else:
                self._lines[line[: line.index("(")]] = (section, line)

    def __getitem__(self, name: str) -> Function:
        return _parse(*self._lines[name])

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def method(self, method: str) -> Function:
        """The function of a Python method name; KeyError if there is none."""
        return self[self._by_method[method]]

    def has_method(self, method: str) -> bool:
        return method in self._by_method

    @functools.cached_property
    def _by_method(self) -> dict[str, str]:
        return {method_name(name): name for name in self._lines}

    def alias(self, function: Function) -> Function | None:
        """The core function that an extension's entry point is an alias of, if the types agree.

        `glBindBufferARB` is `glBindBuffer`; `glCreateShaderObjectARB` has no core function.
        """
        if function.name in self._same:
            return self[self._same[function.name]]
        match = _SUFFIX.match(function.name)
        if function.extension is None or match is None or match[1] not in self._lines:
            return None
        core = self[match[1]]
        same = function.argtypes == core.argtypes and function.restype == core.restype
        return core if same else None

    def extensions(self, function: Function) -> Iterator[str]:
        """Every extension that contains the function."""
        if function.extension is not None:
            yield function.extension
        yield from self._also.get(function.name, ())

    def same_as(self, function: Function) -> Iterator[Function]:
        """The function's aliases: its core name, and those of other extensions."""
        core = self.alias(function)
        if core is not None:
            yield core
        name = function.name if core is None else core.name
        vendors = (name + vendor for vendor in _VENDORS if name + vendor in self._lines)
        for other in (*vendors, *self._others.get(name, ())):
            found = self[other]
            if other != function.name and self.alias(found) is self[name]:
                yield found

    @functools.cached_property
    def _others(self) -> dict[str, list[str]]:
        """The inverse of `_same`."""
        found: dict[str, list[str]] = {}
        for name, core in self._same.items():
            found.setdefault(core, []).append(name)
        return found


FUNCTIONS = FunctionTable(table_rows(DATA / "gl_functions.txt"))
