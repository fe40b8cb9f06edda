"""Vulkan's structs, constants and commands, each made from the table when it is first used.

`make("VkExtent2D", width=3, height=4)` is a struct with its `sType` set; where a member is a
pointer, a struct, a list of structs, bytes or an array may be given, and the struct keeps it alive.
`Commands` looks up entry points of an instance or a device; one that returns an error raises.
"""

from __future__ import annotations

import ctypes
import lzma
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from typing import Any

from gallette.compiler.errors import GalletteError, OutOfMemoryError, ResetError

address, byref = ctypes.addressof, ctypes.byref

_SCALARS: dict[str, Any] = {
    "i": ctypes.c_int32, "u": ctypes.c_uint32, "I": ctypes.c_int64, "U": ctypes.c_uint64,
    "f": ctypes.c_float, "d": ctypes.c_double, "z": ctypes.c_size_t, "b": ctypes.c_uint8,
    "h": ctypes.c_uint16, "c": ctypes.c_char, "p": ctypes.c_void_p, "r": ctypes.c_int32,
    "v": None,
}  # fmt: skip
_WAITS = frozenset(
    {"vkWaitForFences", "vkQueueWaitIdle", "vkDeviceWaitIdle", "vkCreateGraphicsPipelines"}
)
"""Commands that may take long: they run without Python's lock."""
_OUT_OF_MEMORY, _DEVICE_LOST = (-1, -2), -4


class VulkanError(GalletteError):
    """A Vulkan command returned an error."""

    def __init__(self, command: str, result: int) -> None:
        constants = _table()[2].items()
        names = [name for name, n in constants if n == result and name.startswith("VK_ERR")]
        super().__init__(f"{command} returned {names[0] if names else result}")
        self.result = result


@cache
def _table() -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, int], dict[str, str]]:
    """The table of Vulkan: lines of structs and commands by name, constants, and aliases."""
    packed = files("gallette.drivers.vulkan.api").joinpath("table.txt.xz").read_bytes()
    structs: dict[str, list[str]] = {}
    commands: dict[str, list[str]] = {}
    constants: dict[str, int] = {}
    aliases: dict[str, str] = {}
    for line in lzma.decompress(packed).decode().splitlines():
        kind, name, *rest = line.split(" ")
        if kind == "e":
            constants[name] = int(rest[0])
        elif kind == "c":
            commands[name] = rest
        elif kind == "a":
            aliases[name] = rest[0]
        elif kind in "sn":
            structs[name] = [kind, *rest]
    return structs, commands, constants, aliases


@cache
def constant(name: str) -> int:
    """The value of an enumerant, a flag or an API constant."""
    return _table()[2][name]


def _type(code: str) -> Any:
    base, *sizes = code.replace("]", "").split("[")
    made = _SCALARS[base] if base in _SCALARS else struct(base)
    for size in reversed(sizes):
        made = made * int(size)
    return made


def exists(name: str) -> bool:
    """Whether there is a struct of that name."""
    structs, _, _, aliases = _table()
    return aliases.get(name, name) in structs


@cache
def struct(name: str) -> Any:
    """The ctypes class of a struct or union."""
    structs, _, _, aliases = _table()
    kind, number, *members = structs[aliases.get(name, name)]
    base: Any = ctypes.Union if kind == "n" else ctypes.Structure
    pairs = [(field, code) for field, _, code in (member.rpartition(":") for member in members)]
    pointers = frozenset(field for field, code in pairs if code == "p")
    fields = [(field, _type(code)) for field, code in pairs]
    return type(name, (base,), {"_fields_": fields, "stype": int(number), "pointers": pointers})


def make(name: str, **members: Any) -> Any:
    """A struct with these members, which may be rows; it keeps everything alive that its pointers
    refer to.
    """
    cls = struct(name)
    made = cls()
    if cls.stype and hasattr(made, "sType"):
        made.sType = cls.stype
    made.kept = []
    for member, value in members.items():
        pointer = member in cls.pointers and not isinstance(value, int)
        first = value[0] if isinstance(value, tuple) and value else None
        if isinstance(first, str):
            value = built(value)
        elif pointer and isinstance(first, tuple):
            value = [built(each) for each in value]
        if pointer and value is not None:
            if isinstance(value, (list, tuple)):
                value = array(value)
            elif isinstance(value, str):
                value = ctypes.create_string_buffer(value.encode())
            made.kept.append(value)
            value = address(value) if ctypes.sizeof(value) else None
        setattr(made, member, value)
    return made


def array(values: list[Any] | tuple[Any, ...], type: Any = ctypes.c_uint32) -> Any:
    """A C array of structs, of strings, or of numbers of a type."""
    if values and isinstance(values[0], (ctypes.Structure, ctypes.Union)):
        made: Any = (values[0].__class__ * len(values))(*values)
        made.kept = list(values)
        return made
    if values and isinstance(values[0], str):
        texts = [ctypes.create_string_buffer(value.encode()) for value in values]
        made = (ctypes.c_void_p * len(texts))(*[ctypes.addressof(text) for text in texts])
        made.kept = texts
        return made
    return (type * len(values))(*values)


def listed(ask: Callable[..., Any], name: str) -> Any:
    """An array of structs from a command that first returns their count, then themselves; `ask`
    calls it with the last two arguments.
    """
    count, cls = ctypes.c_uint32(), struct(name)
    ask(byref(count), None)
    found = (cls * count.value)()
    for each in found if cls.stype else ():
        each.sType = cls.stype
    ask(byref(count), byref(found))
    return found


Row = tuple[Any, ...]
"""A Vulkan struct as a value: its name, then a pair for each member. A member is a number, a row, a
tuple of numbers or a tuple of rows.
"""


def row(name: str, **members: Any) -> Row:
    """The row of a struct."""
    return (f"Vk{name}", *members.items())


def built(row: Row) -> Any:
    """The struct that a row describes."""
    return make(row[0], **dict(row[1:]))


class Commands:
    """Entry points, looked up when they are first used: `commands.vkCmdDraw(...)`."""

    def __init__(self, lookup: Callable[[bytes], int | None]) -> None:
        self._lookup = lookup
        self._addresses: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("vk"):
            raise AttributeError(name)
        if not self.address(name):
            raise GalletteError(f"the Vulkan driver has no {name}")
        prototype, fails = _prototype(name)
        found = prototype(self.address(name))
        if fails:
            found.errcheck = partial(_check, name)
        setattr(self, name, found)
        return found

    def address(self, name: str) -> int:
        """The address of a command's code."""
        found = self._addresses.get(name)
        if found is None:
            found = self._addresses[name] = self._lookup(name.encode()) or 0
        return found


@cache
def _prototype(name: str) -> tuple[Any, bool]:
    """The type of a command's function, and whether it returns a VkResult."""
    _, commands, _, aliases = _table()
    row = commands.get(name) or commands[aliases[name]]
    result, *parameters = [_type(code) for code in row]
    kind = ctypes.CFUNCTYPE if name in _WAITS else ctypes.PYFUNCTYPE
    return kind(result, *parameters), row[0] == "r"


def _check(name: str, result: int, function: Any, arguments: Any) -> int:
    if result in _OUT_OF_MEMORY:
        raise OutOfMemoryError(f"out of memory: {name}")
    if result == _DEVICE_LOST:
        raise ResetError("the Vulkan device is lost")
    if result < 0:
        raise VulkanError(name, result)
    return result
