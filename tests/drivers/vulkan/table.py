"""Writes the driver's `api/table.txt.xz`: Khronos' description of Vulkan, a line for each name.

    pip install vulkan-object
    python -m tests.drivers.vulkan.table

The package `vulkan-object` is needed here only; `binding` reads the table. Structs are
`s NAME SIZE_CODE...`, commands `c NAME RESULT PARAMETERS` and constants `e NAME VALUE`. A type is a
letter: `i` int32, `u` uint32, `I` int64, `U` uint64 (and handles of objects), `f` float, `d`
double, `z` size_t, `b` uint8, `h` uint16, `c` char, `p` any pointer, or the name of a struct; an
array adds `[4]` for each dimension. What belongs to one window system, to video or to beta
extensions is left out, because the driver never uses it.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path
from typing import Any

from gallette.drivers.vulkan.api import binding

_LETTERS = {
    "int32_t": "i", "int": "i", "uint32_t": "u", "VkBool32": "u", "int64_t": "I", "uint64_t": "U",
    "VkDeviceSize": "U", "VkDeviceAddress": "U", "float": "f", "double": "d", "size_t": "z",
    "uint8_t": "b", "uint16_t": "h", "char": "c", "VkSampleMask": "u", "VkFlags": "u",
    "VkFlags64": "U", "void": "v", "int8_t": "b", "int16_t": "h",
}  # fmt: skip


def _letter(vk: Any, name: str) -> str:
    if name in _LETTERS:
        return _LETTERS[name]
    if name in vk.handles:
        return "p" if vk.handles[name].dispatchable else "U"
    if name in vk.flags:
        return "u" if vk.flags[name].bitWidth == 32 else "U"
    if name in vk.bitmasks:
        return "u" if vk.bitmasks[name].bitWidth == 32 else "U"
    if name in vk.enums:
        return "i"
    if name in vk.structs:
        return name
    return "p" if name.startswith("PFN_") else ""


def _type(vk: Any, member: Any, parameter: bool) -> str:
    """The code of a member or parameter; empty if the table has no type for it."""
    if member.pointer or (parameter and member.fixedSizeArray):
        return "p"
    letter = _letter(vk, member.type)
    for size in member.fixedSizeArray:
        number = size if size.isdigit() else str(vk.constants[size].value)
        letter += f"[{number}]"
    return letter


def _wanted(item: Any) -> bool:
    name = item.name
    return item.protect is None and not any(part in name for part in ("Video", "StdVideo", "NVX"))


def _structs(vk: Any) -> list[str]:
    lines = []
    for struct in vk.structs.values():
        bits = any(member.bitFieldWidth for member in struct.members)
        codes = [f"{m.name}:{_type(vk, m, False)}" for m in struct.members]
        if not _wanted(struct) or bits or any(code.endswith(":") for code in codes):
            continue
        number = 0
        if struct.sType:
            fields = vk.enums["VkStructureType"].fields
            number = next((f.value for f in fields if f.name == struct.sType), 0)
        letter = "n" if struct.union else "s"
        lines.append(f"{letter} {struct.name} {number} {' '.join(codes)}")
        lines += [f"a {alias} {struct.name}" for alias in struct.aliases]
    return lines


def _commands(vk: Any) -> list[str]:
    lines = []
    for command in vk.commands.values():
        codes = [_type(vk, p, True) for p in command.params]
        result = "p" if "*" in command.returnType else _letter(vk, command.returnType)
        if command.protect is None and all(codes) and "Video" not in command.name:
            lines.append(f"c {command.name} {'r' if command.returnType == 'VkResult' else result} "
                         + " ".join(codes))  # fmt: skip
            if command.alias:
                lines.append(f"a {command.name} {command.alias}")
    return lines


def _constants(vk: Any) -> list[str]:
    found: dict[str, int] = {}
    for enum in vk.enums.values():
        for field in enum.fields:
            for name in (field.name, *field.aliases):
                found[name] = field.value
    for mask in vk.bitmasks.values():
        for flag in mask.flags:
            for name in (flag.name, *flag.aliases):
                found[name] = flag.value
    for constant in vk.constants.values():
        if isinstance(constant.value, int):
            found[constant.name] = constant.value
    return [f"e {name} {value}" for name, value in found.items() if "VIDEO" not in name]


def table() -> str:
    """The whole table as text."""
    from vulkan_object import get_vulkan_object

    vk = get_vulkan_object()
    head = f"# Vulkan 1.{vk.headerVersion}, written by tests/drivers/vulkan/table.py"
    return "\n".join([head, *_structs(vk), *_commands(vk), *_constants(vk)]) + "\n"


def main() -> int:
    """Write the table beside the binding."""
    text = table()
    path = Path(binding.__file__).with_name("table.txt.xz")
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{path.name}: {text.count(chr(10))} lines, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
