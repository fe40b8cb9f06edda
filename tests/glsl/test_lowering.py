"""What statements become in NIR: exact operations, locals, lookups, branches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.ir import Alu, Shader, Stage
from gallette.compiler.nir.ir.instrs import LoadConst, Tex
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.text.printer import print_shader
from tests.cases import Case, each
from tests.glsl.shaders import compiled, link

FILE = Path(__file__).with_name("lowering.txt")
PRODUCTS = ("fmul", "ffma", "ffmaz")


@contextmanager
def lowered(source: str, stage: Stage = Stage.FRAGMENT, optimize: bool = True) -> Iterator[Shader]:
    """The NIR of a separable program with one shader."""
    options = LinkOptions(api="compat", separable=True, optimize=optimize)
    shader = compiled(stage, source)
    assert shader.ok, shader.info_log
    program = link_program([shader], options)
    assert program.ok, program.info_log
    yield program.shaders[stage]
    program.shaders[stage].unref()


def test_a_constant_may_be_nan() -> None:
    """NaN differs from NaN, but a constant does not differ from itself."""
    source = "#version 430\nconst float n = intBitsToFloat(0x7fc00000); uniform float u = n;"
    first = (Stage.FRAGMENT, source + "out vec4 c; void main() { c = vec4(n + u); }")
    assert link(first, (Stage.FRAGMENT, source + "void f() {}")).ok


def exact_products(source: str, stage: Stage = Stage.FRAGMENT) -> set[bool]:
    with lowered(source, stage) as nir:
        some = [i for i in instrs_of(nir.entry) if isinstance(i, Alu) and i.op.name in PRODUCTS]
        return {i.exact for i in some}


@each(FILE, "precise")
def test_precise(case: Case) -> None:
    assert exact_products(case.source) == {True}
    assert exact_products(case.source.replace("precise ", "")) == {False}


def test_exactness_ends_with_the_assignment() -> None:
    """A precise dynamic element of a compact array once left the rest of the shader exact."""
    source = """#version 430
    layout(vertices = 3) out; in vec4 v[]; uniform int i; patch out vec4 o;
    precise gl_TessLevelOuter;
    void main() { gl_TessLevelOuter[i] = v[0].x * v[1].x; o = v[0] * v[1]; }"""
    assert False in exact_products(source, Stage.TESS_CTRL)


@each(FILE, "elements_of_compact_arrays")
def test_dynamic_elements_of_compact_arrays(case: Case) -> None:
    with lowered(case.source, Stage.TESS_CTRL):
        pass


@each(FILE, "locals_with_memory")
def test_an_unmodified_local_is_a_value(case: Case) -> None:
    with lowered(case.source, optimize=False) as nir:
        named = [v.name for v in nir.entry.locals if v.name in ("x", "m", "k")]
    assert len(named) == int(case.answer), named


@each(FILE, "lookups")
def test_what_a_lookup_is_given(case: Case) -> None:
    with lowered(case.source) as nir:
        (tex,) = [i for i in instrs_of(nir.entry) if isinstance(i, Tex)]
        found = [tex.op]
        for kind, src in zip(tex.src_kinds, tex.srcs, strict=True):
            if "deref" not in kind:
                constant = src.value.instr
                assert isinstance(constant, LoadConst), kind
                whole = kind in ("offset", "ms_index") or tex.op in ("txf", "txf_ms", "txs")
                bits = np.array(constant.values, np.uint32)
                values = bits.view(np.int32 if whole else np.float32)
                found.append(f"{kind}={','.join(f'{v:g}' for v in values)}")
    assert sorted(found) == sorted(case.answer.split())


@each(FILE, "branches_of_choices")
def test_what_is_cheap_is_computed_without_a_branch(case: Case) -> None:
    with lowered(case.source, optimize=False) as nir:
        assert print_shader(nir).count("if %") == int(case.answer)
