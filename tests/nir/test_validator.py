"""Every rule of the validator: a shader that is right, and what breaks that one rule.

The last test reads the rules from the validator's source, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gallette.compiler.errors import ValidationError
from gallette.compiler.nir.check import validate as module
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir.cf import If, Loop
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, Jump, LoadConst
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import FLOAT, VEC2
from gallette.compiler.nir.text.parser import parse

TEXT = """
shader fragment
type $S = struct "S" { float a; float[2] b }
var uniform float scale
function f (32x1 float x)
function main () entry
impl f {
    32 %x = @load_param ()
    32 %n = fneg %x
}
impl main {
    var function_temp float[4] list
    var function_temp $S pair
    32 %zero = load_const (0)
    32 %x = @load_input (%zero) (location=VARYING.VAR0)
    32x2 %v = vec2 %x, %zero
    32 %sum = fadd %x, %zero
    32 %l = deref_var &list (function_temp float[4])
    32 %e = deref_array &%l[%zero] (function_temp float)
    32 %s = deref_var &pair (function_temp $S)
    32 %m = deref_struct &%s.0 (function_temp float)
    @store_deref (%e, %x) (write_mask=x)
    32 %back = @load_deref (%e)
    32x4 %t = tex 2D float32 (coord=%v)
    call f (%x)
    1 %c = flt %x, %zero
    if %c {
    block a:
    32 %n = fneg %x
    } else {
    block b:
    }
    block join:
    32 %p = phi a: %n, b: %x
    loop {
    break
    }
}
"""


@dataclass
class Parts:
    """What can be broken: instructions by what they are, control flow, lists."""

    shader: Shader

    def __post_init__(self) -> None:
        self.impl: Any = self.shader.entry
        instrs = [i for block in self.impl.blocks() for i in block.instrs()]
        self.named: dict[str, Any] = {}
        for instr in instrs:
            kind = instr.kind
            if isinstance(instr, Alu):
                kind = instr.op.name
            elif isinstance(instr, Intrinsic):
                kind = instr.name
            elif kind == "deref":
                kind = f"deref_{instr.form}"  # type: ignore[attr-defined]
            self.named.setdefault(kind, instr)
        self.branch: Any = next(n for n in self.impl.body if isinstance(n, If))
        self.loop: Any = next(n for n in self.impl.body if isinstance(n, Loop))

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["named"][name]


Break = Callable[[Parts], Any]


def put(name: str, **values: Any) -> Break:
    """Set attributes of an instruction."""
    return lambda p: [setattr(p.named[name], k, v) for k, v in values.items()]


def result(name: str, **values: Any) -> Break:
    return lambda p: [setattr(p.named[name].dest, k, v) for k, v in values.items()]


def source(name: str, place: int, other: str) -> Break:
    """Another value in place of a source, properly linked."""
    return lambda p: p.named[name].srcs[place].rewrite(p.named[other].dest)


def index(name: str, key: str, value: Any) -> Break:
    return lambda p: p.named[name].indices.__setitem__(key, value)


def appended(op: str, names: str, bits: int = 32) -> Break:
    """One more operation, behind everything it reads."""

    def breaks(parts: Parts) -> None:
        srcs = [(parts.named[name].dest, (0,)) for name in names.split()]
        Alu(op, srcs, 1, bits).insert_after(parts.flt)

    return breaks


def _twice(parts: Parts) -> None:
    phi = parts.phi
    phi.add_phi_src(phi.phi_srcs[0].pred, phi.phi_srcs[0].value)


def _late_phi(parts: Parts) -> None:
    phi, block = parts.phi, parts.phi.block
    first = LoadConst((0,), 32)
    block.insert_after(None, first)
    assert first.next is phi


def _foreign(parts: Parts) -> None:
    """A value of the other function."""
    other = next(i for i in parts.shader.impls() if i is not parts.impl)
    parts.fneg.srcs[0].rewrite(next(iter(other.blocks())).first.dest)


def _use_before(parts: Parts) -> None:
    const = parts.load_const
    block = const.block
    const.unlink()
    block.append(const)


def _not_dominating(parts: Parts) -> None:
    inside = parts.branch.then_first.first
    neg = Alu("fneg", [(inside.dest, (0,))], 1, 32)
    parts.phi.block.append(neg)


def _jump_in_the_middle(parts: Parts) -> None:
    parts.loop.body[0].append(LoadConst((0,), 32))


def _jump_then_node(parts: Parts) -> None:
    parts.vec2.block.append(Jump("return"))


# What the problem says, and how it comes about.
RULES: list[tuple[str, Break]] = [
    ("more than one entry point", lambda p: setattr(p.shader.functions[0], "is_entry", True)),
    ("the shader has no references left", lambda p: setattr(p.shader, "refcount", 0)),
    ("a variable is listed twice", lambda p: p.shader.variables.append(p.shader.variables[0])),
    (
        "scale: a local among the globals",
        lambda p: setattr(p.shader.variables[0], "mode", Mode.FUNCTION_TEMP),
    ),
    (
        "scale: a variable has exactly one mode",
        lambda p: setattr(p.shader.variables[0], "mode", Mode.UNIFORM | Mode.SHADER_IN),
    ),
    ("list: a local of another mode", lambda p: setattr(p.impl.locals[0], "mode", Mode.UNIFORM)),
    ("the use list does not match the uses", lambda p: p.fadd.dest.uses.update({object(): None})),
    ("a body must start and end with a block", lambda p: p.impl.body.pop()),
    ("a node has the wrong parent", lambda p: setattr(p.branch, "parent", p.loop)),
    ("a node has the wrong owner list", lambda p: setattr(p.branch, "owner", p.loop.body)),
    ("blocks must alternate", lambda p: p.impl.body.insert(1, p.impl.body[0])),
    (
        "an if's condition has the wrong parent",
        lambda p: setattr(p.branch.condition, "parent", p.loop),
    ),
    ("a condition must be one boolean", lambda p: p.branch.condition.rewrite(p.fadd.dest)),
    ("the instruction's block link is wrong", lambda p: setattr(p.fadd, "block", p.phi.block)),
    ("the instruction list is broken", put("fadd", prev=None)),
    ("a phi must not follow other instructions", _late_phi),
    ("nothing may follow a jump", _jump_in_the_middle),
    ("the instruction list's end is wrong", lambda p: setattr(p.fadd.block, "last", p.fadd)),
    ("a jump must end its body", _jump_then_node),
    ("the result belongs to another instruction", lambda p: setattr(p.fadd.dest, "instr", p.vec2)),
    ("33 is no bit size", result("fadd", bit_size=33)),
    ("17 components", result("fadd", num_components=17)),
    ("0 components", result("fadd", num_components=0)),
    ("a source uses a value that is not in this function", _foreign),
    ("a source has the wrong parent", lambda p: setattr(p.fadd.srcs[0], "parent", p.vec2)),
    ("a value is used before it is defined", _use_before),
    ("the definition does not dominate this use", _not_dominating),
    ("two phi sources for one predecessor", _twice),
    (
        "phi sources do not match the block's predecessors",
        lambda p: p.phi.remove_pred(p.phi.phi_srcs[0].pred),
    ),
    ("a phi source has another size than the phi", result("phi", num_components=2)),
    ("a phi source has another size than the phi", result("phi", bit_size=64)),
    ("fadd takes 2 sources, not 1", lambda p: p.fadd.srcs.pop().drop()),
    ("wrong number of components", result("vec2", num_components=3)),
    ("a swizzle must have 1 components", lambda p: setattr(p.fadd.srcs[0], "swizzle", (0, 0))),
    (
        "a swizzle reads a component that is not there",
        lambda p: setattr(p.fadd.srcs[0], "swizzle", (1,)),
    ),
    (
        "a swizzle reads a component that is not there",
        lambda p: setattr(p.fadd.srcs[0], "swizzle", (-1,)),
    ),
    ("a source must have 1 bits, not 32", appended("bcsel", "fadd fadd fadd")),
    ("sources of 32 and 64 bits", result("load_const", bit_size=64)),
    ("a float has at least 16 bits", appended("fadd", "flt flt", bits=1)),
    ("the result must have 32 bits", result("fadd", bit_size=64)),
    ("wrong number of values", put("load_const", values=(0, 0))),
    ("a constant does not fit its size", put("load_const", values=(1 << 32,))),
    ("a constant does not fit its size", put("load_const", values=(-1,))),
    ("the variable is not declared in this shader", lambda p: p.impl.locals.pop(0)),
    ("the mode differs from the variable's", put("deref_var", modes=Mode.UNIFORM)),
    ("the type differs from the variable's", put("deref_var", type=FLOAT)),
    ("a deref needs a mode", put("deref_array", modes=0)),
    ("the parent is not a deref", source("deref_array", 0, "load_input")),
    ("the mode differs from the parent's", put("deref_array", modes=Mode.UNIFORM)),
    ("the parent has no such member", put("deref_struct", field=2)),
    ("the parent has no such member", put("deref_struct", field=-1)),
    ("not the member's type", put("deref_struct", type=VEC2)),
    ("not the parent's type", put("deref_array", form="ptr_as_array")),
    ("a float cannot be indexed", lambda p: setattr(p.deref_var, "type", FLOAT)),
    ("not the element's type", put("deref_array", type=VEC2)),
    ("an index is one integer", source("deref_array", 1, "vec2")),
    ("load_input takes 1 sources, not 0", lambda p: p.load_input.srcs.pop().drop()),
    ("source offset must have 1 components", source("load_input", 0, "vec2")),
    ("load_input has no index colour", index("load_input", "colour", 1)),
    ("index location is missing", lambda p: p.load_input.indices.pop("location")),
    ("the first source must be a deref", source("load_deref", 0, "load_input")),
    (
        "only vectors and scalars can be loaded and stored, not float[4]",
        source("load_deref", 0, "deref_var"),
    ),
    ("not the components of float", source("store_deref", 1, "vec2")),
    ("not the bit size of float", source("store_deref", 1, "flt")),
    ("the write mask is wrong", index("store_deref", "write_mask", 0)),
    ("the write mask is wrong", index("store_deref", "write_mask", 2)),
    ("unknown texture operation texture", put("tex", op="texture")),
    ("sources and kinds differ in number", lambda p: p.tex.src_kinds.append("lod")),
    ("unknown texture source colour", lambda p: p.tex.add_tex_src("colour", p.fadd.dest)),
    ("tex takes no lod", lambda p: p.tex.add_tex_src("lod", p.fadd.dest)),
    ("tex needs a coord", lambda p: p.tex.remove_src("coord")),
    ("the result of lod has 2 components", put("tex", op="lod")),
    ("the variable is not declared in this shader", put("deref_var", var=None)),
    ("a source occurs twice", lambda p: p.tex.add_tex_src("coord", p.vec2.dest)),
    ("the coordinate must have 2 components", source("tex", 0, "fadd")),
    ("unknown jump goto", put("jump", type="goto")),
    ("break outside a loop", lambda p: p.phi.block.append(Jump("break"))),
    (
        "the callee is not a function of this shader",
        lambda p: p.shader.functions.remove(p.call.callee),
    ),
    ("wrong number of parameters", lambda p: p.call.srcs.pop().drop()),
]


def broken(breaks: Break) -> str:
    """What the validator says of the shader, broken."""
    shader = parse(TEXT, "text")
    validate(shader)
    breaks(Parts(shader))
    with pytest.raises(ValidationError) as caught:
        validate(shader)
    return str(caught.value)


@pytest.mark.parametrize(("message", "breaks"), RULES, ids=[m for m, _ in RULES])
def test_a_rule_that_is_broken_is_named(message: str, breaks: Break) -> None:
    assert message in broken(breaks)


def _pattern(part: ast.expr) -> str:
    return re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"


def _messages() -> list[str]:
    """The texts of the validator, `.*` where something is filled in."""
    found = []
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("fail", "expect"):
            text = node.args[-1]
            if isinstance(text, ast.Constant):
                found.append(re.escape(str(text.value)))
            elif isinstance(text, ast.JoinedStr):
                found.append("".join(map(_pattern, text.values)))
    return found


def test_every_rule_is_broken_here() -> None:
    said = [message for message, _ in RULES]
    assert [m for m in _messages() if not any(re.match(m, s) for s in said)] == []
