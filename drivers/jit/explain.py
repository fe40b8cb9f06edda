"""A program as text: LLVM IR as emitted, as optimised, and the machine's assembly.

Comments in the first text name the NIR instruction of the lines below and its source line; in the
other two, instructions that LLVM could trace back end with the source line.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.drivers.jit.llvm.codegen import explain

from .llvm.lines import commented, commented_assembly, located
from .program import JitProgram
from .shader.chunk_emit import emit_chunk
from .shader.tile_emit import emit_tiles


def stages_of(text: str) -> tuple[str, str, str]:
    """A module as written, optimised, and as assembly."""
    optimised, assembly = explain(located(text))
    return text, commented(optimised), commented_assembly(assembly)


def explained(program: JitProgram) -> str:
    """All functions compiled for a program so far: over chunks of lanes, and over tiles."""
    return "\n".join(_sections(program))


def _sections(program: JitProgram) -> Iterator[str]:
    modules = []
    if not program.tiles:
        chunk = emit_chunk(program.shader, program.chunk.flat_colors, True)
        modules.append(("a chunk of lanes", chunk.text))
    for number, (key, shades) in enumerate(program.tiles, 1):
        shader = program.shader if shades else None
        text = emit_tiles(shader, key, True).text
        modules.append((f"tiles, variant {number}: {key}", text))
    for title, text in modules:
        written, optimised, assembly = stages_of(text)
        yield f"; ==== {title}\n; ---- LLVM IR as written\n{written}"
        yield f"; ---- LLVM IR, optimised\n{optimised}"
        yield f"; ---- assembly\n{assembly}"
