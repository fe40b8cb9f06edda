"""Translate between GLSL, NIR text, SPIR-V text and SPIR-V binary.

The form of the input is taken from its name and content, that of the output from --to or the name
after -o.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.compiler.nir.ir.modes import SUFFIXES
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.output_files import write_whole
from gallette.compiler.spirv.module import Module

FORMS = ("nir", "text", "binary")
VALUES = {"forms": FORMS, "stages": tuple(SUFFIXES)}


def run(options: argparse.Namespace) -> int:
    from gallette.compiler.nir.text.printer import print_shader

    path: Path = options.file
    given = _read(path)
    wanted = options.to or _form_of(options.output) or "text"
    if isinstance(given, Module) and (wanted == "nir" or options.via):
        from gallette.compiler.spirv.read.translate import spirv_to_nir

        shader: Shader | None = spirv_to_nir(given, entry=options.entry)
    else:
        shader = given if isinstance(given, Shader) else None
    if shader is not None and wanted == "nir":
        _write(print_shader(shader), options.output)
        return 0
    if options.via and shader is not None:
        _comment(print_shader(shader))
    module = given if isinstance(given, Module) else _module(given, str(path))
    if wanted == "binary":
        data = module.to_bytes()
        if options.output is None:
            sys.stdout.buffer.write(data)
        else:
            write_whole(options.output, data)
        return 0
    from gallette.compiler.spirv.disassembler import disassemble

    _write(disassemble(module, raw_ids=options.raw_id), options.output)
    return 0


def _comment(text: str) -> None:
    """Print NIR as comments of SPIR-V text, which can be assembled as before."""
    print("".join(f"; {line}\n" for line in text.splitlines()))


def _form_of(path: Path | None) -> str:
    suffix = "" if path is None else path.suffix
    return {".nir": "nir", ".spvasm": "text", ".spv": "binary"}.get(suffix, "")


def _write(text: str, path: Path | None) -> None:
    if path is None:
        print(text, end="")
    else:
        write_whole(path, text)


def _read(path: Path) -> Module | Shader:
    from gallette.compiler.spirv.assembler import assemble
    from gallette.compiler.spirv.module import read_module

    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if data[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
        return read_module(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} is neither text nor a SPIR-V module") from None
    if path.suffix in SUFFIXES:
        from gallette.compiler.glsl.alone import nir_of

        return nir_of(SUFFIXES[path.suffix], text, str(path))
    if path.suffix == ".nir":
        from gallette.compiler.nir.text.parser import parse

        return parse(text, str(path))
    return assemble(text, str(path))


def _module(shader: Shader, file: str = "") -> Module:
    from gallette.compiler.spirv.emit import nir_to_spirv

    return nir_to_spirv(shader, file)
