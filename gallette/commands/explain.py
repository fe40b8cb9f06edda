"""Show how a shader compiles: its NIR after each pass, its variants, and the code that runs.

A .vert or .frag file is linked with its counterpart beside it, if there is one. A shader_test is
run, which shows the variants that its draws needed.
"""

from __future__ import annotations

import argparse
import json
from difflib import get_close_matches
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.run.pass_runner import PassRecord
from gallette.compiler.nir.text.difference import diff_lines
from gallette.compiler.output_files import write_whole
from gallette.explaining import (
    STAGES,
    Explanation,
    ShaderStory,
    VariantStory,
    explain_file,
    unmarked,
)
from gallette.terminal import console

_STYLES = {"add": "green", "del": "red", "same": "", "hunk": "bright_black"}
_SIGNS = {"add": "+ ", "del": "- ", "same": "  ", "hunk": ""}


def run(options: argparse.Namespace) -> int:
    if options.stage is not None and options.stage not in STAGES.values():
        close = get_close_matches(options.stage, set(STAGES.values()), 1)
        hint = f"did you mean {close[0]}?" if close else f"stages: {', '.join(STAGES.values())}"
        raise GalletteError(f"gallette explain: unknown stage {options.stage!r}; {hint}")
    explanation = explain_file(
        options.file, options.driver or default_driver(), options.stage, options.alone
    )
    if options.stage:
        found = [s.stage for s in explanation.shaders]
        explanation.shaders = [s for s in explanation.shaders if s.stage == options.stage]
        if not explanation.shaders:
            raise GalletteError(
                f"{options.file} has no {options.stage} shader; it has: {', '.join(found)}"
            )
    out = console()
    if options.memory is not None:
        if explanation.memory is None:
            raise GalletteError(
                f"gallette explain: --memory needs a .shader_test and the driver simd, not "
                f"{options.file} on {explanation.driver}"
            )
        write_whole(options.memory, json.dumps(explanation.memory["map"], indent=1) + "\n")
        out.print(f"address map: {options.memory}", markup=False)
    if options.html is not None:
        from gallette.reports.html import write_explanation

        out.print(f"report: {write_explanation(explanation, options.html)}", markup=False)
        return 0
    _print(out, explanation, options.brief)
    return 0


def _print(out: Console, explanation: Explanation, brief: bool) -> None:
    if explanation.log.strip():
        out.print(explanation.log.strip(), markup=False)
    for shader in explanation.shaders:
        _print_shader(out, shader, brief)
    if explanation.events:
        out.rule("variants that the test's draws needed")
        for event in explanation.events:
            round_ = "second NIR round" if event.lowered else "no NIR round"
            out.print(
                f"{event.stage:>9} {event.shader}: {event.key} ({event.reason}; {round_}, "
                f"{event.seconds * 1000:.1f} ms)",
                markup=False,
            )
    if explanation.memory is not None:
        _print_memory(out, explanation.memory["map"])
    if explanation.outcome:
        out.print(f"the test's result: {explanation.outcome}", markup=False)


def _print_memory(out: Console, found: dict[str, Any]) -> None:
    """Print the addresses of the run's buffers."""
    out.rule("memory: each page directory maps 2 MiB of addresses")
    table = Table("address", "up to", "bytes", "memory", "pages", "object", box=None)
    for entry in found["ranges"]:
        table.add_row(
            f"{entry['start']:#x}",
            f"{entry['start'] + entry['size']:#x}",
            f"{entry['size']:,}",
            entry["region"],
            f"{entry['page'] >> 10} KiB",
            Text(entry["name"]),
        )
    out.print(table)
    out.print(
        f"{len(found['directories'])} directories, {found['mixed']} with pages of both sizes; "
        f"{found['wasted']:,} bytes of addresses unused; {found['relocated']} relocations "
        f"written, {found['skipped']} skipped because the address had not changed"
    )


def _print_shader(out: Console, shader: ShaderStory, brief: bool) -> None:
    out.rule(f"{shader.stage} shader")
    if not brief:
        out.print(Syntax(shader.source.strip(), "glsl", background_color="default"))
    _print_passes(out, shader.passes, brief)
    for variant in shader.variants:
        _print_variant(out, variant, brief)


def _print_passes(out: Console, passes: list[PassRecord], brief: bool) -> None:
    idle = sum(not p.progress for p in passes)
    for record in passes:
        if not record.progress:
            continue
        out.print(
            Text(f"\n{record.name}", style="bold"),
            Text(
                f"{record.instrs_before} -> {record.instrs_after} instructions, "
                f"{record.seconds * 1000:.2f} ms",
                style="bright_black",
            ),
        )
        for (name, reason), count in record.rules.items():
            out.print(Text(f"{count:4} x {name}: {reason}", style="bright_black"))
        if brief:
            continue
        for kind, line in diff_lines(unmarked(record.before), unmarked(record.after)):
            out.print(Text(_SIGNS[kind] + line, style=_STYLES[kind]))
    out.print(Text(f"{idle} passes made no progress", style="bright_black"))


def _print_variant(out: Console, variant: VariantStory, brief: bool) -> None:
    out.rule(f"variant: {variant.key}", style="bright_black")
    out.print(f"{variant.reason}; built in {variant.seconds * 1000:.1f} ms", markup=False)
    _print_passes(out, variant.passes, brief)
    if not brief:
        out.print(variant.nir.strip(), markup=False)
        for caption, _ in variant.pictures:
            out.print(f"picture (--html shows it): {caption}", markup=False)
        out.print(Syntax(variant.code.strip(), _language(variant.code), background_color="default"))


def _language(code: str) -> str:
    """The language of a driver's code: LLVM IR begins with a comment, Python never with `;`."""
    return "llvm" if code.startswith(";") else "python"
