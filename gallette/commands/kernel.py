"""`gallette kernel`: run a kernel of a SPIR-V module on arrays."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError, InputError

__all__ = ["add_arguments", "run"]

_KINDS = "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="OpenCL's SPIR-V, binary or text (.spvasm)")
    parser.add_argument("--kernel", default="", help="which kernel (default: the only one)")
    parser.add_argument("--grid", default="1", help="workgroups: 4 or 4,4,1")
    parser.add_argument("--block", default="1", help="invocations of a workgroup: 64 or 8,8")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        help="TYPE:NUMBER, zeros:TYPE:COUNT, arange:TYPE:COUNT, local:BYTES, null, or a .npy file",
    )
    parser.add_argument("--driver", default="numpipe", help="what runs it")
    parser.add_argument("--formats", default="", help="address formats, as global=index_offset32")
    parser.add_argument("--nir", action="store_true", help="show the lowered NIR instead")


def run(options: argparse.Namespace) -> int:
    from gallette.compiler.nir.text.printer import print_shader
    from gallette.compute import Program

    arguments = [_argument(text) for text in options.arg]
    grid, block = _size(options.grid), _size(options.block)
    with Program(_module(options.file), options.driver, options.formats) as program:
        kernel = program.kernel(options.kernel)
        if options.nir:
            three = (*block, 1, 1)[:3]
            shader = kernel.shader((three[0], three[1], three[2]))
            print(print_shader(shader), end="")
            shader.unref()
            return 0
        if len(arguments) != len(kernel.arguments):
            for wanted in kernel.arguments:
                print(f"  {wanted.kind:7} {wanted.type:10} {wanted.name}", file=sys.stderr)
        kernel(*arguments, grid=grid, block=block)
        for wanted, value in zip(kernel.arguments, arguments, strict=True):
            if isinstance(value, np.ndarray):
                print(f"{wanted.name}: {np.array2string(value, threshold=32)}")
    return 0


def _module(path: Path) -> Any:
    from gallette.commands.spirv import _read
    from gallette.compiler.spirv.module import Module

    found = _read(path)
    if not isinstance(found, Module):
        raise InputError(f"{path} is no SPIR-V module")
    return found


def _size(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise GalletteError(f"a size is one to three numbers, not {text!r}") from None


def _type(name: str) -> np.dtype[Any]:
    if name not in _KINDS.split():
        raise GalletteError(f"no type is called {name!r}; there are {_KINDS}")
    return np.dtype(f"{name[0]}{int(name[1:]) // 8}")


def _argument(text: str) -> Any:
    from gallette.compute import Local

    kind, _, rest = text.partition(":")
    try:
        if kind == "null":
            return None
        if kind == "local":
            return Local(int(rest))
        if kind in ("zeros", "arange"):
            name, _, count = rest.partition(":")
            dtype = _type(name)
            if not 0 <= int(count) <= 1 << 28:
                raise GalletteError(f"{count} elements are too many")
            return (
                np.zeros(int(count), dtype)
                if kind == "zeros"
                else np.arange(int(count)).astype(dtype)
            )
        if text.endswith(".npy"):
            return np.load(text, allow_pickle=False)
        return _type(kind).type(float(rest) if kind[0] == "f" else int(rest, 0))
    except (ValueError, OverflowError, OSError) as error:
        raise GalletteError(f"argument {text!r}: {error}") from None
