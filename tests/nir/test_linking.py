"""What two stages learn from each other: dead, constant and packed varyings."""

from __future__ import annotations

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.link.linking import link_varyings
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

VERTEX = """
shader vertex "vs"
impl main {
    32 %z = load_const (0)
    32 %one = load_const (1.0)
    32x4 %p = @load_input (%z) (location=VERT.POS)
    32x2 %xy = mov %p.xy
    32x2 %zw = mov %p.zw
    32x4 %c = load_const (0.25, 0.5, 0.75, 1.0)
    @store_output (%p, %z) (location=VARYING.POS, write_mask=xyzw)
    @store_output (%xy, %z) (location=VARYING.VAR3, write_mask=xy)
    @store_output (%zw, %z) (location=VARYING.VAR5, write_mask=xy)
    @store_output (%c, %z) (location=VARYING.VAR7, write_mask=xyzw)
    @store_output (%p, %z) (location=VARYING.VAR9, write_mask=xyzw)
}
"""

FRAGMENT = """
shader fragment "fs"
impl main {
    32 %z = load_const (0)
    32x2 %b = @load_barycentric_pixel ()
    32x2 %xy = @load_interpolated_input (%b, %z) (location=VARYING.VAR3)
    32x2 %zw = @load_interpolated_input (%b, %z) (location=VARYING.VAR5)
    32x4 %c = @load_interpolated_input (%b, %z) (location=VARYING.VAR7)
    32x4 %nothing = @load_interpolated_input (%b, %z) (location=VARYING.VAR20)
    32x4 %v = vec4 %xy.x, %xy.y, %zw.x, %zw.y
    32x4 %s = fadd %v, %c
    32x4 %t = fadd %s, %nothing
    @store_output (%t, %z) (location=FRAG.DATA0, write_mask=xyzw)
}
"""


def linked() -> tuple[Shader, Shader]:
    vs, fs = parse(VERTEX), parse(FRAGMENT)
    assert link_varyings(vs, fs)
    for shader in (vs, fs):
        optimize(shader)
        validate(shader)
    return vs, fs


def stored(shader: Shader) -> list[tuple[str, int, int]]:
    found = []
    for instr in shader.entry.first.instrs():
        if isinstance(instr, Intrinsic) and instr.name == "store_output":
            found.append((instr["location"].name, instr["component"], instr["write_mask"]))
    return found


def test_unread_outputs_are_dropped_and_fixed_function_ones_kept() -> None:
    vs, _ = linked()
    names = [name for name, _, _ in stored(vs)]
    assert names == ["POS", "VAR3", "VAR5"]


def test_constant_outputs_move_into_the_reader_and_missing_ones_read_zero() -> None:
    _, fs = linked()
    text = print_shader(fs)
    assert "VAR7" not in text
    assert "VAR20" not in text
    assert "0x3e800000" in text


def test_captured_outputs_stay() -> None:
    vs, fs = parse(VERTEX), parse(FRAGMENT)
    link_varyings(vs, fs, keep=frozenset({VaryingSlot.VAR9}))
    assert "VAR9" in [name for name, _, _ in stored(vs)]


def test_only_the_components_that_are_read_are_stored() -> None:
    vs = parse(VERTEX)
    fs = parse(
        """
        shader fragment "fs"
        impl main {
            32 %z = load_const (0)
            32 %x = @load_input (%z) (location=VARYING.VAR9, component=2)
            @store_output (%x, %z) (location=FRAG.DATA0, write_mask=x)
        }
        """
    )
    link_varyings(vs, fs)
    assert ("VAR9", 0, 0b0100) in stored(vs)
