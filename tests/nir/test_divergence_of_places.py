"""Which memory lanes find different things in: locals, uniforms by an index, what pointers reach.

Each case is code with `%same` (a uniform number) and `%own` (each lane's); the letters behind tell
for each loaded value, in order, whether lanes agree about it (`u`) or not (`d`).
"""

from __future__ import annotations

import pytest

from gallette.compiler.nir.ir import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.text.parser import parse

HEAD = """shader fragment
var uniform float[4] table (offset=0)
var shader_temp float[4] kept
function f (deref float out)
function main () entry
impl f {
}
impl main {
    var function_temp float[4] v
    var function_temp float[4] w
    32 %zero = load_const (0)
    32 %three = load_const (3)
    32 %one = load_const (1)
    32 %given = @load_ubo (%zero, %zero)
    32 %same = iand %given, %three
    32 %each = @load_input (%zero) (location=VARYING.VAR0)
    32 %own = iand %each, %three
    32 %d = deref_var &v (function_temp float[4])
    32 %e = deref_var &w (function_temp float[4])
    32 %t = deref_var &table (uniform float[4])
    32 %k = deref_var &kept (shader_temp float[4])
    32 %d0 = deref_array &%d[%zero] (function_temp float)
    32 %ds = deref_array &%d[%same] (function_temp float)
    32 %do = deref_array &%d[%own] (function_temp float)
    32 %e0 = deref_array &%e[%zero] (function_temp float)
    32 %es = deref_array &%e[%same] (function_temp float)
    32 %ts = deref_array &%t[%same] (uniform float)
    32 %to = deref_array &%t[%own] (uniform float)
    32 %k0 = deref_array &%k[%zero] (shader_temp float)
"""
CASES = {
    # uniforms
    "32 %r = @load_deref (%ts)": "u",
    "32 %r = @load_deref (%to)": "d",
    "32 %r = @load_deref (%k0)": "d",
    # a local: what was stored, and where
    "32 %r = @load_deref (%d0)": "u",
    "32 %r = @load_deref (%do)": "d",
    "@store_deref (%d0, %same) (write_mask=x)\n32 %r = @load_deref (%ds)": "u",
    "@store_deref (%ds, %same) (write_mask=x)\n32 %r = @load_deref (%d0)": "u",
    "@store_deref (%d0, %own) (write_mask=x)\n32 %r = @load_deref (%ds)": "d",
    "@store_deref (%do, %same) (write_mask=x)\n32 %r = @load_deref (%d0)": "d",
    "@store_deref (%d0, %own) (write_mask=x)\n32 %r = @load_deref (%e0)": "u",
    "32 %r = @load_deref (%d0)\n@store_deref (%d0, %own) (write_mask=x)": "d",
    # copies
    "@copy_deref (%d0, %ts)\n32 %r = @load_deref (%d0)": "u",
    "@copy_deref (%d0, %to)\n32 %r = @load_deref (%d0)": "d",
    "@copy_deref (%do, %ts)\n32 %r = @load_deref (%d0)": "d",
    "@copy_deref (%e, %d)\n32 %r = @load_deref (%es)": "u",
    "@store_deref (%d0, %own) (write_mask=x)\n@copy_deref (%e, %d)\n32 %r = @load_deref (%es)": "d",
    "@copy_deref (%e, %k)\n32 %r = @load_deref (%es)": "d",
    # pointers, which may lead anywhere
    "32 %p = deref_cast %d0 (function_temp float)\n@store_deref (%p, %same) (write_mask=x)\n"
    "32 %r = @load_deref (%d0)\n32 %s = @load_deref (%e0)": "uu",
    "32 %p = deref_cast %d0 (function_temp float)\n@store_deref (%p, %own) (write_mask=x)\n"
    "32 %r = @load_deref (%d0)\n32 %s = @load_deref (%e0)": "du",
    "32 %p = deref_cast %same (function_temp float)\n@store_deref (%p, %same) (write_mask=x)\n"
    "32 %r = @load_deref (%d0)\n32 %s = @load_deref (%e0)\n32 %x = @load_deref (%ts)": "ddu",
    "32 %p = deref_cast %same (function_temp float)\n32 %r = @load_deref (%p)\n"
    "32 %s = @load_deref (%e0)": "du",
    "call f (%d0)\n32 %r = @load_deref (%d0)\n32 %s = @load_deref (%e0)": "du",
    # branches
    "1 %c = flt %own, %zero\nif %c {\n@store_deref (%d0, %same) (write_mask=x)\n} else {\n}\n"
    "32 %r = @load_deref (%d0)\n32 %s = @load_deref (%e0)": "du",
    "1 %c = flt %same, %zero\nif %c {\n@store_deref (%d0, %same) (write_mask=x)\n} else {\n}\n"
    "32 %r = @load_deref (%d0)": "u",
}


@pytest.mark.parametrize("code", CASES)
def test_what_lanes_find_in_memory(code: str) -> None:
    shader = parse(HEAD + code + "\n}\n")
    impl = shader.entry
    impl.require(Metadata.DIVERGENCE)
    found = "".join("d" if i.result.divergent else "u" for i in intrinsics_of(impl, "load_deref"))
    assert found == CASES[code]
    differing = {v.name for v in impl.divergent_locals}
    if "deref_cast %same" in code and "store" in code:
        assert differing == {"v", "w"}
    elif "%r = @load_deref (%d0)" in code and found[0] == "d":
        assert differing == {"v"}
