"""Run a kernel of an OpenCL SPIR-V module, or a GLSL compute shader, on arrays.

The arrays are printed after the run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError, InputError

_KINDS = "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"


def run(options: argparse.Namespace) -> int:
    if options.file.suffix == ".comp":
        return _run_glsl(options)
    from gallette.compute import Program

    arguments = [_argument(text) for text in options.arg]
    grid, block = _size(options.grid), _size(options.block or "1")
    with Program(_module(options.file), options.driver, options.formats) as program:
        kernel = program.kernel(options.kernel)
        if options.nir:
            three = (*block, 1, 1)[:3]
            return _show(kernel.shader((three[0], three[1], three[2])))
        if len(arguments) != len(kernel.arguments):
            for wanted in kernel.arguments:
                print(f"  {wanted.kind:7} {wanted.type:10} {wanted.name}", file=sys.stderr)
        kernel(*arguments, grid=grid, block=block)
        _report([a.name for a in kernel.arguments], arguments)
    return 0


def _run_glsl(options: argparse.Namespace) -> int:
    from gallette.compute import ComputeShader

    with ComputeShader.from_file(options.file, options.driver) as shader:
        if options.nir:
            return _show(shader.shader())
        names = [a.name for a in shader.arguments]
        given: dict[str, Any] = {}
        for text in options.arg:
            name, equals, rest = text.partition("=")
            free = next((n for n in names if n not in given), "")
            given[name if equals else free] = _argument(rest if equals else text)
        if "" in given or any(
            a.kind != "uniform" and a.name not in given for a in shader.arguments
        ):
            for wanted in shader.arguments:
                print(f"  {wanted.kind:8} {wanted.type:10} {wanted.name}", file=sys.stderr)
        if "" in given:
            raise GalletteError(f"{options.file.name}: too many arguments")
        block = _size(options.block) if options.block else None
        shader(grid=_size(options.grid), block=block, **given)
        _report(list(given), list(given.values()))
    return 0


def _show(shader: Any) -> int:
    from gallette.compiler.nir.text.printer import print_shader

    print(print_shader(shader), end="")
    shader.unref()
    return 0


def _report(names: list[str], arguments: list[Any]) -> None:
    from gallette.compute import Image

    for name, value in zip(names, arguments, strict=True):
        array = value.array if isinstance(value, Image) else value
        if isinstance(array, np.ndarray):
            print(f"{name}: {np.array2string(array, threshold=32)}")


def _module(path: Path) -> Any:
    from gallette.commands.spirv import _read
    from gallette.compiler.spirv.module import Module

    found = _read(path)
    if not isinstance(found, Module):
        raise InputError(f"{path} is not a SPIR-V module")
    return found


def _size(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise GalletteError(f"{text!r} is not a size; use numbers such as 4,4,1") from None


def _type(name: str) -> np.dtype[Any]:
    if name not in _KINDS.split():
        raise GalletteError(f"unknown type {name!r}; types: {_KINDS}")
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def _argument(text: str) -> Any:
    from gallette.compute import Image, Local

    kind, _, rest = text.partition(":")
    try:
        if kind == "null":
            return None
        if kind == "local":
            return Local(int(rest))
        if kind == "image":
            name, _, size = rest.partition(":")
            width, _, height = size.partition("x")
            if not 0 < int(width) * int(height) <= 1 << 26:
                raise GalletteError(f"an image of {size} is too large or empty")
            return Image(np.zeros((int(height), int(width), 4), _type(name)))
        if kind in ("zeros", "arange"):
            name, _, count = rest.partition(":")
            dtype = _type(name)
            if not 0 <= int(count) <= 1 << 28:
                raise GalletteError(f"{count} is not a number of elements from 0 to {1 << 28:,}")
            return (
                np.zeros(int(count), dtype)
                if kind == "zeros"
                else np.arange(int(count)).astype(dtype)
            )
        if text.endswith(".npy"):
            return np.load(text, allow_pickle=False)
        return _type(kind).type(float(rest) if kind[0] == "f" else int(rest, 0))
    except OSError as error:
        raise GalletteError(f"argument {text!r}: {error.strerror or error}") from None
    except OverflowError:
        raise GalletteError(f"argument {text!r}: the number is out of range") from None
    except ValueError:
        raise GalletteError(f"argument {text!r}: not a number, an array or a .npy file") from None
