"""The forms of a shader that a pane of the explorer can show, besides its passes.

A form is the output of one driver, or of a front end. The driver that draws has compiled its own
already; another driver compiles the linked program when a pane requests its form, for the null key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.text.printer import print_shader
from gallette.inspector.flow_graph import control_flow, data_flow
from gallette.inspector.programs import compiled_for, marked_code


@lazy_dataclass(frozen=True)
class Form:
    """A form of a shader: its title in the menu, the driver that makes it ("" is the one that
    draws), and the function that extracts it from a variant and the driver's listing.
    """

    title: str
    driver: str
    text: Callable[[Any, str], str]
    is_text: bool = True  # or a drawing


def _nir(variant: Any, code: str) -> str:
    return print_shader(variant.shader, lines=True)


def _code(variant: Any, code: str) -> str:
    return marked_code(variant, code)


def _section(title: str) -> Callable[[Any, str], str]:
    """Extract the last section with this title from jit's listing: that of the newest code."""

    def read(variant: Any, code: str) -> str:
        parts = re.split(r"^; ---- (.*)$", code, flags=re.M)
        found = dict(zip(parts[1::2], parts[2::2], strict=True))
        text = re.split(r"^; ==== ", found.get(title, ""), flags=re.M)[0]
        return marked_code(None, text.strip("\n"))

    return read


FORMS = {
    "nir": Form("NIR that is compiled", "", _nir),
    "control": Form("control flow", "", lambda v, code: control_flow(v.shader), False),
    "data": Form("data flow", "", lambda v, code: data_flow(v.shader), False),
    "python": Form("numpipe: Python", "numpipe", _code),
    "llvm": Form("jit: LLVM IR", "jit", _section("LLVM IR, optimised")),
    "assembly": Form("jit: assembly", "jit", _section("assembly")),
    "simd": Form("simd: instructions", "simd", _code),
    "tiler": Form("tiler: instructions", "tiler", _code),
    "spirv": Form("SPIR-V", "spirv", lambda v, code: code),
}


def form_of(
    name: str,
    texts: dict[str, str],
    variants: dict[str, list[tuple[Any, dict[str, Any]]]],
    driver: str,
    options: dict[str, Any],
) -> dict[str, str]:
    """A form of each stage; `variants` are those of the driver that has drawn, newest first."""
    form = FORMS[name]
    if form.driver == "spirv":
        return {stage: _spirv(stage, text) for stage, text in texts.items()}
    if form.driver in ("", driver):
        return {stage: form.text(*_first(made)) if made else "" for stage, made in variants.items()}
    with compiled_for(form.driver, texts, options) as handles:
        return {
            stage: "\n".join(
                form.text(variant, told["code"])
                for variant, told in zip(
                    handle.variants.values(), handle.explain()["variants"], strict=True
                )
            )
            for stage, handle in handles.items()
        }


def _first(made: list[tuple[Any, dict[str, Any]]]) -> tuple[Any, str]:
    variant, told = made[0]
    return variant, told["code"]


def _spirv(stage: str, text: str) -> str:
    """A stage as a SPIR-V module, each instruction with its source line."""
    from gallette.compiler.glsl.alone import nir_of
    from gallette.compiler.spirv.disassembler import disassemble
    from gallette.compiler.spirv.emit import nir_to_spirv

    try:
        shader = nir_of(Stage(stage), text)
        try:
            module = nir_to_spirv(shader, stage)
        finally:
            shader.unref()
    except GalletteError as error:
        return f"; {error}"
    lines, now = [], ""
    for line in disassemble(module).splitlines():
        told = _LINE.match(line)
        if told:
            now = told[1]
        elif now and line.strip() not in ("OpReturn", "OpFunctionEnd"):
            lines.append(f"{line} //@{now}")
        else:
            lines.append(line)
    return "\n".join(lines)


_LINE = re.compile(r"^\s*OpLine \S+ (\d+) \d+$")
