"""One stage: joins the shaders attached for it, and finds what main reaches."""

from __future__ import annotations

from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.call_graph import find_recursion
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.declarations import Declarations
from gallette.compiler.glsl.link.reachability import reach
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.values import constant_bits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Type


def merge_types(a: Type, b: Type) -> Type | None:
    """The combined type of two declarations, which may leave array sizes open; None if
    they differ.
    """
    if a is b:
        return a
    if a.element is not None and b.element is not None:
        element = merge_types(a.element, b.element)
        if element is None or (a.length and b.length and a.length != b.length):
            return None
        return t.array(element, a.length or b.length)
    unnamed = a.name.startswith("#anonymous") and b.name.startswith("#anonymous")
    if a.is_struct and b.is_struct and (a.name == b.name or unnamed) and a.base is b.base:
        if len(a.fields) != len(b.fields):
            return None
        for x, y in zip(a.fields, b.fields, strict=True):
            if x.name != y.name or merge_types(x.type, y.type) is None:
                return None
        return a
    return None


class _Joiner:
    def __init__(self, unit: StageUnit, log: LinkLog, alone: bool) -> None:
        self.unit = unit
        self.log = log
        self.alone = alone

    def add(self, shader: hir.Shader) -> None:
        unit = self.unit
        own = Declarations(self.alone)
        for declared in shader.globals:
            if declared.quals.storage == "const":
                self.check_constant(declared)
                continue
            var = own.variable(declared)
            old = unit.globals.setdefault(var.name, var)
            if old is not var:
                self.merge(old, var)
        for name, declared in shader.builtins.items():
            var = own.variable(declared)
            old = unit.builtins.setdefault(name, var)
            if old is not var:
                self.merge_builtin(old, var)
        for block in shader.blocks:
            self.add_block(own.block(block))
        if unit.canonical:
            own.variables = {d: unit.resolve(var) for d, var in own.variables.items()}
        unit.canonical.update(own.variables)
        for function in shader.functions:
            self.add_function(function)
        unit.initialized += [
            v for v in shader.globals if v.init is not None and v.quals.storage != "const"
        ]
        unit.per_vertex.append((shader, shader.layout.get("per_vertex_out")))
        unit.subroutine_types.update(shader.subroutine_types)
        unit.precisions.update(shader.precisions)
        if shader.layout:
            self.merge_layout(shader.layout)

    def check_constant(self, var: hir.Variable) -> None:
        """Check that a global constant has one value in all shaders."""
        old = self.unit.constants.setdefault(var.name, var)
        a, b = old.const_value, var.const_value
        if a is None or b is None:
            return
        if old.type is not var.type or not same_constant(var.type, a, b):
            self.log.error(f"constant '{var.name}' has two different values")

    def merge(self, old: hir.Variable, new: hir.Variable) -> None:
        log, name = self.log, new.name
        a, b = old.quals, new.quals
        self.unit.canonical[new] = old
        merged = merge_types(old.type, new.type)
        if merged is None or a.storage != b.storage:
            log.error(
                f"'{name}' is declared as '{a.storage} {old.type}' and as '{b.storage} {new.type}'"
            )
            return
        for var, other in ((old, new), (new, old)):
            if var.type.is_array and other.type.length and var.max_index >= other.type.length:
                log.error(f"'{name}' is indexed beyond its size {other.type.length}")
        old.type = merged
        old.max_index = max(old.max_index, new.max_index)
        old.whole |= new.whole
        old.used, old.written = old.used or new.used, old.written or new.written
        for key in ("location", "binding", "component", "index", "offset"):
            x, y = a.layout.get(key, -1), b.layout.get(key, -1)
            if x >= 0 and y >= 0 and x != y:
                log.error(f"'{name}' is declared with two values of '{key}'")
            elif y >= 0:
                a.layout[key] = y
        for key in ("invariant", "centroid", "sample", "patch", "interpolation"):
            x, y = getattr(a, key), getattr(b, key)
            if x != y and {x, y} != {"", "smooth"}:
                log.error(f"'{name}' is declared with different '{key}' qualifiers")
        if a.flags != b.flags and a.storage == "uniform":
            log.error(f"'{name}' is declared with different layout qualifiers")
        if old.init is None:
            old.init = new.init
        elif new.init is not None:
            p, q = constant_value(old.init), constant_value(new.init)
            if p is None or q is None or not same_constant(old.type, p, q):
                log.error(f"'{name}' has two different initializers")

    def merge_builtin(self, old: hir.Variable, new: hir.Variable) -> None:
        self.unit.canonical[new] = old
        merged = merge_types(old.type, new.type)
        if merged is None:
            self.log.error(f"'{old.name}' is declared as '{old.type}' and as '{new.type}'")
            return
        for var, other in ((old, new), (new, old)):
            if var.type.is_array and other.type.length and var.max_index >= other.type.length:
                self.log.error(f"'{old.name}' is indexed beyond its size {other.type.length}")
        old.type = merged
        old.max_index = max(old.max_index, new.max_index)
        old.written = old.written or new.written
        old.used = old.used or new.used
        if (
            old.name == "gl_FragCoord"
            and (old.redeclared or new.redeclared)
            and (
                (old.redeclared and new.redeclared and old.quals.flags != new.quals.flags)
                or (old.used and not old.redeclared)
                or (new.used and not new.redeclared)
            )
        ):
            self.log.error("gl_FragCoord is redeclared with different layout qualifiers")
        if old.name == "gl_Layer" and old.quals.flags != new.quals.flags:
            self.log.error("gl_Layer is redeclared with different layout qualifiers")
        if old.name == "gl_FragDepth" and old.redeclared and new.redeclared:
            if old.quals.flags != new.quals.flags:
                self.log.error("gl_FragDepth is redeclared with different layout qualifiers")
        old.quals.flags |= new.quals.flags
        old.quals.invariant = old.quals.invariant or new.quals.invariant
        old.quals.interpolation = old.quals.interpolation or new.quals.interpolation
        old.redeclared = old.redeclared or new.redeclared

    def add_block(self, block: hir.Block) -> None:
        unit = self.unit
        key = (block.quals.storage, block.name)
        old = unit.blocks.get(key)
        if old is None:
            unit.blocks[key] = block
            return
        if not same_block(old, block) or not _same_varyings(old, block):
            self.log.error(f"block '{block.name}' is declared in two different ways")
            return
        assert old.instance is not None
        assert block.instance is not None
        unit.canonical[block.instance] = old.instance
        if block.instance.used:
            old.instance.used = True
        for a, b in ((old.instance, block.instance), (block.instance, old.instance)):
            if a.type.is_array and a.type.length and b.max_index >= a.type.length:
                self.log.error(f"'{a.name}' is indexed beyond its size {a.type.length}")
        old.instance.max_index = max(old.instance.max_index, block.instance.max_index)
        if old.instance.type.is_unsized_array and block.instance.type.length:
            old.instance.type = block.instance.type
        for a, b in zip(old.members, block.members, strict=False):
            unit.canonical[b] = a
            a.used = a.used or b.used
            a.max_index = max(a.max_index, b.max_index)
        for a_quals, b_quals in zip(old.member_quals, block.member_quals, strict=False):
            a_quals.max_index = max(a_quals.max_index, b_quals.max_index)

    def add_function(self, function: hir.Function) -> None:
        unit = self.unit
        if function.body is None:
            return
        if function.key in unit.functions:
            self.log.error(f"function '{function}' is defined in two {unit.name} shaders")
            return
        unit.functions[function.key] = function
        if function.name == "main":
            unit.main = function

    def merge_layout(self, layout: dict[str, Any]) -> None:
        mine = self.unit.layout
        for key, value in layout.items():
            if key == "streams":
                mine.setdefault(key, set()).update(value)
            elif key == "per_vertex_out":
                mine.setdefault(key, value)
            elif key == "xfb_strides":
                strides = mine.setdefault(key, {})
                for buffer, stride in value.items():
                    if strides.setdefault(buffer, stride) != stride:
                        self.log.error(f"xfb_stride of buffer {buffer} is declared differently")
            elif key in ("default_stream", "default_xfb_buffer"):
                mine.setdefault(key, value)
            elif mine.setdefault(key, value) != value:
                what = key.replace("_", " ")
                self.log.error(f"{self.unit.name} shaders declare different values of {what}")


def same_constant(type_: Type, a: hir.Value, b: hir.Value) -> bool:
    """Whether two constants have equal bits. (With `==` a NaN would differ from itself, and -0
    equal 0.)
    """
    bits: bool = constant_bits(type_, a) == constant_bits(type_, b)
    return bits


def same_block(a: hir.Block, b: hir.Block) -> bool:
    """Whether two declarations of a block are the same interface."""
    if bool(a.instance_name) != bool(b.instance_name) and a.quals.storage in ("uniform", "buffer"):
        return False
    if a.type.packing != b.type.packing or len(a.type.fields) != len(b.type.fields):
        return False
    if a.type.row_major != b.type.row_major:  # part of the interface, with matrices or without
        return False
    if a.instance is not None and b.instance is not None:
        x, y = a.instance.type, b.instance.type
        while x.element is not None or y.element is not None:
            if x.is_array != y.is_array or (x.length and y.length and x.length != y.length):
                return False
            assert x.element is not None
            assert y.element is not None
            x, y = x.element, y.element
    if a.quals.layout.get("binding", -1) != b.quals.layout.get("binding", -1):
        if "binding" in a.quals.layout and "binding" in b.quals.layout:
            return False
    for x_field, y_field in zip(a.type.fields, b.type.fields, strict=True):
        if x_field.name != y_field.name or merge_types(x_field.type, y_field.type) is None:
            return False
        plain = x_field.type.without_array
        if bool(x_field.row_major) != bool(y_field.row_major):
            if plain.is_matrix or plain.is_struct:  # a structure hands it on to its members
                return False
    if a.quals.storage == "buffer" and a.type.fields:  # a last array without a size has none
        if a.type.fields[-1].type.is_unsized_array != b.type.fields[-1].type.is_unsized_array:
            return False
    for p, q in zip(a.member_quals, b.member_quals, strict=False):
        for key in ("offset", "align", "location"):
            if p.layout.get(key, -1) != q.layout.get(key, -1):
                return False
    return True


def _same_varyings(a: hir.Block, b: hir.Block) -> bool:
    """Whether two shaders of a stage name the block alike and interpolate its members alike."""
    if a.quals.storage not in ("in", "out"):
        return True
    pairs = zip(a.member_quals, b.member_quals, strict=True)
    return bool(a.instance_name) == bool(b.instance_name) and all(
        (p.interpolation or "smooth") == (q.interpolation or "smooth") for p, q in pairs
    )


def _size_arrays(unit: StageUnit, log: LinkLog) -> None:
    """Size arrays without a size by their highest constant index."""
    for var in [*unit.globals.values(), *unit.builtins.values()]:
        if var.type.is_unsized_array and var.type.element is not None and var.builtin != "block":
            if var.builtin and var.name not in (
                "gl_TexCoord",
                "gl_ClipDistance",
                "gl_CullDistance",
            ):
                continue
            var.type = t.array(var.type.element, max(1, var.max_index + 1))


def join_stage(stage: Stage, shaders: list[tuple[hir.Shader, Language]], log: LinkLog) -> StageUnit:
    """Merge the shaders of one stage and find what main reaches."""
    unit = StageUnit(stage, shaders[0][1])
    alone = len(shaders) == 1
    joiner = _Joiner(unit, log, alone)
    for shader, language in shaders:
        unit.has_handles |= language.has("ARB_bindless_texture")
        joiner.add(shader)
    if unit.main is None:
        log.error(f"the {unit.name} shaders have no main()")
    log.stop_on_error()
    reach(unit, log)
    log.stop_on_error()
    if not alone:  # a single shader was checked when compiled
        _check_recursion(unit, log)
        _check_members(unit, log)
    _size_arrays(unit, log)
    return unit


def _check_members(unit: StageUnit, log: LinkLog) -> None:
    """Check that members of blocks without an instance name do not clash with other globals."""
    owners: dict[str, hir.Block] = {}
    for block in unit.blocks.values():
        for member in block.members:
            name = member.name
            if name in unit.globals or name in unit.constants:
                log.error(f"'{name}' is declared both inside and outside of a block")
            other = owners.setdefault(name, block)
            if other is not block:
                log.error(f"'{name}' is declared in the blocks '{other.name}' and '{block.name}'")


def _check_recursion(unit: StageUnit, log: LinkLog) -> None:
    linked = [
        hir.Function(
            f.name,
            f.result,
            f.params,
            calls=[(unit.functions[c.key], loc, end) for c, loc, end in f.calls],
        )
        for f in unit.reachable
    ]
    by_key = {f.key: f for f in linked}
    for f in linked:
        f.calls = [(by_key[c.key], loc, end) for c, loc, end in f.calls]
    recursive = find_recursion(linked)
    if recursive is not None:
        log.error(f"function '{recursive[0].name}' calls itself; GLSL has no recursion")
