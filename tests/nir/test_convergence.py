"""Rules that undo each other would go on until a budget ends them: counted here."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.compiler.nir.algebraic import engine
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.text.parser import parse

PRODUCTS = """
shader fragment
var shader_out int o (location=FRAG.DATA0)
function main () entry
impl main {
    block b0:
        32 %zero = load_const (0x00000000)
        32 %x = @load_input (%zero) (location=VARYING.VAR0)
        32 %five = load_const (0x00000005)
        32 %one = load_const (0x00000001)
        32 %s = iadd %x, %one
        32 %r = imul %s, %five
        @store_output (%r, %zero) (write_mask=x, location=FRAG.DATA0)
}
"""


def test_products_are_not_taken_apart_and_put_together_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    applied: list[Any] = []
    apply = engine._apply

    def counted(rule: Any, *arguments: Any) -> Any:
        applied.append(rule)
        return apply(rule, *arguments)

    monkeypatch.setattr(engine, "_apply", counted)
    optimize(parse(PRODUCTS), OptimizeOptions())
    assert 1 <= len(applied) <= 4
