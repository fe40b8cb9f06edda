"""How a program compiles, for the page: passes with their texts, variants with keys and code."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.run.pass_runner import recording
from gallette.compiler.nir.text.printer import print_shader
from gallette.debugger.invocation import without_compile_cache
from gallette.pipe.loader import create_screen

_SOURCE_LINE = re.compile(r"^\s*;.*, line (\d+)$")
_ENDS = re.compile(r"\s*[;#] line (\d+)$")


def marked_code(variant: Any, code: str) -> str:
    """Generated code with the source lines of its instructions, if the driver provides them:
    `//@12`.

    numpipe records the source line of each line of code; jit writes it as a comment at the end of a
    line, or before the code of an instruction.
    """
    lines = code.splitlines()
    known = getattr(getattr(variant, "program", None), "lines", None) or []
    if len(known) != len(lines):
        known = _lines_from_comments(lines)
    pairs = zip(lines, known, strict=True)
    return "\n".join(f"{_ENDS.sub('', text)} //@{line}" if line else text for text, line in pairs)


def _lines_from_comments(lines: list[str]) -> list[int]:
    """The source line of each line, from the comments before them."""
    found, now = [], 0
    for text in lines:
        told, ends = _SOURCE_LINE.match(text), _ENDS.search(text)
        if ends:
            found.append(int(ends[1]))
            continue
        if told:
            now = int(told[1])
        elif text.lstrip().startswith(";") or not text or text.startswith("}"):
            now = 0
        found.append(now)
    return found


@lazy_dataclass()
class Way:
    """One stage: its source, every pass that changed it, and the driver's output."""

    stage: str
    source: str
    first: str = ""  # NIR before any pass, every instruction with its source line: `//@12`
    passes: list[dict[str, Any]] = field(default_factory=list)
    variants: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def compiled_for(
    driver: str,
    sources: dict[str, str],
    options: dict[str, Any] | None = None,
    profile: str = "core",
) -> Iterator[dict[str, Any]]:
    """Compile, link and pass to a driver, without the cache. Returns the driver's handles by stage,
    or "" for a stage that it leaves to others. A program with an error raises a `GalletteError`
    with the log.
    """
    with without_compile_cache():
        program = _linked(sources, profile)
        screen = create_screen(driver, **(options or {}))
        context = screen.context_create()
        handles: dict[str, Any] = {}
        for kind, linked in program.shaders.items():
            if kind.value in screen.caps.stages:
                handles[kind.value] = context.create_shader_state(kind, linked)
            else:
                linked.unref()
        try:
            yield handles
        finally:
            for handle in handles.values():
                context.delete_shader_state(handle)
            context.destroy()
            screen.destroy()


def _linked(sources: dict[str, str], profile: str) -> Any:
    compiled = []
    for stage, text in sources.items():
        shader = compile_shader(Stage(stage), text, CompileOptions(api=profile))
        if not shader.ok:
            raise GalletteError(shader.info_log)
        compiled.append(shader)
    program = link_program(compiled, LinkOptions(separable=len(sources) == 1))
    if not program.ok:
        raise GalletteError(program.info_log)
    return program


def way_of(
    sources: dict[str, str],
    driver: str,
    profile: str = "core",
    options: dict[str, Any] | None = None,
) -> tuple[list[Way], str]:
    """Compile and link without the cache and with everything recorded; returns the stages, and the
    log of errors.
    """
    try:
        with (
            recording(lines=True) as passes,
            compiled_for(driver, sources, options, profile) as handles,
        ):
            ways = []
            for stage in sources:
                way = Way(stage, sources[stage])
                handle = handles.get(stage)
                if handle is not None:
                    told = handle.explain()["variants"]
                    made = handle.variants.values()
                    way.variants = [variant_data(*pair) for pair in zip(made, told, strict=True)]
                ways.append(way)
    except GalletteError as error:
        return [], str(error)
    for way in ways:
        add_passes(way, [r for r in passes.records if r.stage == way.stage])
    return ways, ""


def variant_data(variant: Any, told: dict[str, Any]) -> dict[str, str]:
    """A variant as the page shows it: key and reason, the NIR that was compiled, its code."""
    return {
        "key": told["key"],
        "reason": told["reason"],
        "nir": print_shader(variant.shader, lines=True),
        "code": marked_code(variant, told["code"]),
    }


def add_passes(way: Way, records: list[Any]) -> None:
    """Add the passes that made progress; texts are differences from the previous one."""
    if records:
        way.first = records[0].before
    last = way.first
    for record in records:
        if not record.progress:
            continue
        way.passes.append(
            {
                "name": record.name,
                "delta": record.delta,
                "count": record.instrs_after,
                "microseconds": round(record.seconds * 1e6),
                "edits": _edits(last, record.after),
            }
        )
        last = record.after


def _edits(before: str, after: str) -> list[list[Any]]:
    """Edits `[start, end, lines]`, each of which replaces lines start..end of the previous text."""
    a, b = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [[i1, i2, b[j1:j2]] for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"]
