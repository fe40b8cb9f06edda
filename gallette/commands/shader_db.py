"""Count what shaders cost: instructions, registers (scalars live at the worst point) and loops.

Every shader_test below DIR is compiled and linked, and each stage is optimised and counted. With
--against, everything is counted under a second setting, and the shaders that got shorter or longer
are listed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.analysis.pressure import register_pressure
from gallette.compiler.nir.ir import Loop, Shader, Stage, clone_shader, walk
from gallette.compiler.nir.ir.modes import IN_PROSE
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.piglit_subset.cluster import Cluster
from gallette.piglit_subset.suite import BUNDLED, find_tests, generated_in

_STAGES = {f"{name} shader": stage for stage, name in IN_PROSE.items()}


@lazy_dataclass(frozen=True)
class Counts:
    """The costs of one stage of one program."""

    instructions: int = 0
    registers: int = 0
    loops: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.instructions + other.instructions,
            self.registers + other.registers,
            self.loops + other.loops,
        )


_KINDS = {bool: "true or false", int: "a number", str: "a word"}


def parse_setting(words: Sequence[str]) -> OptimizeOptions:
    """`name=value` words as options of the optimiser."""
    options = OptimizeOptions()
    own = {f.name: f for f in fields(OptimizeOptions) if f.name != "algebraic"}
    rules = {f.name: f for f in fields(AlgebraicOptions)}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or (name not in own and name not in rules):
            known = ", ".join([*own, *sorted(rules.keys() - own.keys())])
            raise InputError(f"gallette shader-db: unknown option {word!r}; options: {known}")
        value: Any = {"true": True, "false": False}.get(text, text)
        if name in own:
            kind = type(own[name].default)
            value = int(text) if kind is int else value
            if not isinstance(value, kind):
                raise InputError(f"gallette shader-db: {name} needs {_KINDS[kind]}")
            options = replace(options, **{name: value})  # type: ignore[arg-type]
        else:
            if not isinstance(value, bool):
                raise InputError(f"gallette shader-db: {name} needs true or false")
            rules_too = replace(options.algebraic, **{name: value})  # type: ignore[arg-type]
            options = replace(options, algebraic=rules_too)
    if options.inexact_used_once not in ("always", "never", "not_position"):
        raise InputError(
            "gallette shader-db: inexact_used_once needs always, never or not_position"
        )
    return options


def programs(folders: Sequence[Path]) -> Iterator[tuple[str, dict[Stage, Shader]]]:
    """Every program that links, as the linker leaves it; the caller owns the shaders."""
    for path in _files(folders):
        shaders = shaders_of(path.read_text(encoding="utf-8", errors="replace"))
        if shaders:
            yield path.stem, shaders


def _files(folders: Sequence[Path]) -> list[Path]:
    return [path for folder in folders for _, path in find_tests([folder])]


def shaders_of(text: str) -> dict[Stage, Shader]:
    """The shaders of a shader_test, linked; none if they do not link."""
    parts = re.split(r"^\[(.*?)\]\s*$", text, flags=re.MULTILINE)
    api = "core" if "CORE" in (parts[2] if len(parts) > 2 else "") else "compat"
    shaders = [
        compile_shader(_STAGES[name], [body.lstrip("\n")], CompileOptions(api=api))
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
        if name in _STAGES
    ]
    if not shaders or not all(shader.ok for shader in shaders):
        return {}
    program = link_program(shaders, LinkOptions(separable=len(shaders) == 1))
    return program.shaders if program.ok else {}


Row = tuple[str, list[Counts]]
"""A shader's name, and what it costs under each setting."""


def _measure(settings: Sequence[OptimizeOptions], named: tuple[str, str]) -> list[Row]:
    """Measure the shaders of a file, given as name and text; the work of a cluster's worker."""
    name, text = named
    rows: list[Row] = []
    for stage, shader in shaders_of(text).items():
        rows.append((f"{name} {stage.value}", [count(shader, s) for s in settings]))
        shader.unref()
    return rows


def _rows(
    folders: Sequence[Path], settings: Sequence[OptimizeOptions], address: str
) -> Iterator[Row]:
    texts = [(p.stem, p.read_text(encoding="utf-8", errors="replace")) for p in _files(folders)]
    if not address:
        for each in texts:
            yield from _measure(settings, each)
        return
    found: dict[tuple[str, str], list[Row]] = {}
    with Cluster(address) as cluster:
        for item, rows in cluster.run(partial(_measure, settings), texts, lambda t: len(t[1])):
            if isinstance(rows, BaseException):
                raise InputError(f"gallette shader-db: {item[0]}: {rows}")
            found[item] = rows
    for each in texts:  # in the order of one machine
        yield from found[each]


def count(shader: Shader, options: OptimizeOptions) -> Counts:
    """Costs of a clone of `shader`, optimised under `options`."""
    copy = clone_shader(shader)
    optimize(copy, options)
    loops = sum(isinstance(n, Loop) for impl in copy.impls() for n in walk(impl.body))
    counts = Counts(copy.count_instrs(), register_pressure(copy), loops)
    copy.unref()
    return counts


def run(options: argparse.Namespace) -> int:
    folders = options.folders or [BUNDLED]
    for folder in folders:
        if not folder.is_dir() and not generated_in(folder):
            raise InputError(f"gallette shader-db: {folder} is not a folder")
    if options.driver is not None:
        if options.cluster:
            raise InputError("gallette shader-db: --driver and --cluster cannot be used together")
        from .shader_db_driver import run_on_driver

        return run_on_driver(options, folders)
    settings = [parse_setting(options.set)]
    if options.against:
        settings.append(parse_setting(options.against))
    totals = [Counts() for _ in settings]
    changes: list[tuple[str, int, int]] = []
    shaders = 0
    for label, found in _rows(folders, settings, options.cluster):
        shaders += 1
        totals = [a + b for a, b in zip(totals, found, strict=True)]
        if options.each:
            counts = "   ".join(
                f"{c.instructions:6} instructions {c.registers:4} registers {c.loops:2} loops"
                for c in found
            )
            print(f"{label:50} {counts}")
        if len(found) == 2 and found[0].instructions != found[1].instructions:
            changes.append((label, found[1].instructions, found[0].instructions))
    check_count(shaders, folders)
    print(f"{shaders} shaders")
    for title, words, total in zip(
        ("set", "against"), (options.set, options.against), totals, strict=False
    ):
        setting = " ".join(words) or "the defaults"
        print(
            f"{title:8} {setting:40} {total.instructions:9,} instructions "
            f"{total.registers:8,} registers {total.loops:5,} loops"
        )
    if len(totals) == 2:
        _report_changes(changes, totals)
    return 0


def check_count(shaders: int, folders: Sequence[Path]) -> None:
    """Fail if nothing was measured."""
    if not shaders:
        names = ", ".join(map(str, folders))
        raise InputError(
            f"gallette shader-db: no shader_test in {names} links "
            "(docs/shader_tests.md shows how to write one around GLSL)"
        )


def _report_changes(changes: list[tuple[str, int, int]], totals: list[Counts]) -> None:
    helped = [c for c in changes if c[2] < c[1]]
    hurt = [c for c in changes if c[2] > c[1]]
    for title, rows in (("helped", helped), ("hurt", hurt)):
        print(f"{title}: {len(rows)}")
        for label, before, after in sorted(rows, key=lambda row: row[2] - row[1])[:20]:
            print(f"    {label:50} {before:5} -> {after:5} ({100 * (after / before - 1):+.1f} %)")
    before, after = totals[1].instructions, totals[0].instructions
    percent = 100 * (after / max(before, 1) - 1)
    print(f"all instructions: {before:,} -> {after:,} ({percent:+.2f} %)")
