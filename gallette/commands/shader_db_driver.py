"""`gallette shader-db --driver D`: statistics of the code that a driver generates for a corpus.

A driver with a machine of its own measures its code (instructions, cycles, registers, spills); the
totals are printed for one or two sets of its options.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.ir import Shader, clone_shader


def driver_options(words: Sequence[str]) -> dict[str, Any]:
    """`name=value` words as a driver's options: numbers, true and false are themselves."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InputError(f"gallette shader-db: needs OPTION=VALUE, not {word!r}")
        known: dict[str, Any] = {"true": True, "false": False}
        found[name] = int(text) if text.lstrip("-").isdigit() else known.get(text, text)
    return found


def _measured(compiler: Any, shader: Shader) -> dict[str, int]:
    copy = clone_shader(shader)
    compiler.first_round(copy, None)
    counts: dict[str, int] = compiler.measure(copy)
    copy.unref()
    return counts


def run_on_driver(options: argparse.Namespace, folders: Sequence[Path]) -> int:
    """Compile everything under each set of options and add up."""
    from gallette.pipe.loader import create_screen

    from .shader_db import check_count, programs

    settings = {"set": options.set}
    if options.against:
        settings["against"] = options.against
    compilers = []
    for words in settings.values():
        compiler = getattr(create_screen(options.driver, **driver_options(words)), "compiler", None)
        if compiler is None or not hasattr(compiler, "measure"):
            raise InputError(f"gallette shader-db: {options.driver} makes no machine code")
        compilers.append(compiler)
    totals = [Counter[str]() for _ in compilers]
    shaders = refused = 0
    for name, stages in programs(folders):
        for stage, shader in stages.items():
            try:
                found = [_measured(compiler, shader) for compiler in compilers]
            except GalletteError as error:
                refused += 1
                print(f"{name} {stage.value}: {error}")
                continue
            finally:
                shader.unref()
            if not found[0]:
                raise InputError(f"gallette shader-db: {options.driver} measures nothing")
            shaders += 1
            for total, counts in zip(totals, found, strict=True):
                total.update(counts)
            if options.each or (len(found) == 2 and found[0] != found[1]):
                shown = "   |   ".join(_shown(counts) for counts in found)
                print(f"{f'{name} {stage.value}':50} {shown}")
    check_count(shaders + refused, folders)
    print(f"{shaders} shaders, {refused} refused" if refused else f"{shaders} shaders")
    for (title, words), total in zip(settings.items(), totals, strict=True):
        print(f"{title:8} {' '.join(words) or 'the defaults':32} {_shown(total)}")
    return 1 if refused else 0


def _shown(counts: dict[str, int]) -> str:
    return "  ".join(f"{value:,} {name}" for name, value in counts.items())
