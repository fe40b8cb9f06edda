"""Which memory lanes find different things in: locals, uniforms by an index, pointers."""

from __future__ import annotations

from pathlib import Path

from gallette.compiler.nir.ir import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.text.parser import parse
from tests.cases import Case, each


@each(Path(__file__).with_name("divergence.txt"))
def test_what_lanes_find_in_memory(case: Case) -> None:
    code, impl = case.text, parse(case.source).entry
    impl.require(Metadata.DIVERGENCE)
    found = "".join("d" if i.result.divergent else "u" for i in intrinsics_of(impl, "load_deref"))
    assert found == case.answer
    differing = {v.name for v in impl.divergent_locals}
    if "deref_cast %same" in code and "store" in code:
        assert differing == {"v", "w"}
    elif "%r = @load_deref (%d0)" in code and found[0] == "d":
        assert differing == {"v"}
