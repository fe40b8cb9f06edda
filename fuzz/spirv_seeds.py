"""Modules of our own making, for fuzzers and benches: kernels, and what bundled tests become."""

from __future__ import annotations

from pathlib import Path

from gallette.commands.spirv import _module
from gallette.compiler.errors import GalletteError
from gallette.compiler.glsl.alone import nir_of
from gallette.compiler.nir.ir.modes import GL_NAMES
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction, Module
from gallette.piglit_subset.shader_test import parse_file
from gallette.piglit_subset.suite import find_tests

ROOT = Path(__file__).parents[1]
MOST = 400
"""instructions of a seed: small ones can be tried often"""
STAGES = {name: stage for stage, name in GL_NAMES.items()}
_ENTRY, _FUNCTION, _CALL = opcode("OpEntryPoint"), opcode("OpFunction"), opcode("OpFunctionCall")
_ABOUT = frozenset(
    map(opcode, ("OpName", "OpMemberName", "OpDecorate", "OpMemberDecorate", "OpExecutionMode"))
)


def modules() -> list[Module]:
    """Whole modules: the kernels of the tests, and every 40th bundled shader_test."""
    found = []
    for path in sorted((ROOT / "tests" / "kernels").glob("*.spvasm")):
        found.append(assemble(path.read_text(), str(path)))
    for _, path in find_tests([])[::40]:
        for part in parse_file(path).shaders:
            stage = STAGES.get(part.stage.removesuffix("_SHADER"))
            if stage is None or part.form != "glsl":
                continue
            try:
                found.append(_module(nir_of(stage, part.text)))
            except GalletteError:
                continue
    return found


def seeds() -> list[bytes]:
    """Small modules of one entry point each."""
    found: list[bytes] = []
    for module in modules():
        entries = [i for i in module.instructions if i.opcode == _ENTRY]
        for entry in entries:
            one = single(module, entry) if len(entries) > 1 else module
            if len(one.instructions) <= MOST:
                found.append(one.to_bytes())
    return found


def single(module: Module, entry: Instruction) -> Module:
    """The module with one of its entry points, and what that needs.

    A number that happens to be an id keeps something too many, which does no harm.
    """
    functions: dict[int, list[Instruction]] = {}
    around: list[Instruction] = []
    current: list[Instruction] | None = None
    for i in module.instructions:
        if i.opcode == _FUNCTION:
            current = functions[i.words[1]] = []
        (around if current is None else current).append(i)
    wanted: dict[int, None] = {}
    work = [entry.words[1]]
    while work:
        id = work.pop()
        if id not in wanted and id in functions:
            wanted[id] = None
            work.extend(i.words[2] for i in functions[id] if i.opcode == _CALL)
    used = set(entry.words)
    for id in wanted:
        for i in functions[id]:
            used.update(i.words)
    size = -1
    while size != len(used):
        size = len(used)
        for i in reversed(around):
            if i.result_id in used:
                used.update(i.words)
    kept = [
        i
        for i in around
        if i is entry
        or (i.opcode in _ABOUT and i.words[0] in used)
        or (
            i.opcode not in _ABOUT
            and i.opcode != _ENTRY
            and (not i.result_id or i.result_id in used)
        )
    ]
    code = [i for id, body in functions.items() if id in wanted for i in body]
    return Module(module.version, module.generator, module.bound, 0, kept + code)
