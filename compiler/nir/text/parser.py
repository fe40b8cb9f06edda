"""The parser of the text that `printer` writes, and that people write in tests.

    shader = parse(text)            # InputError with line, column and caret if it is malformed
    print_shader(shader) == text    # for every text from the printer

For hand-written text it is lenient: values and blocks may have any names, `block` headers may be
omitted, constants may be numbers (`load_const (1.0, -2)`), and a `main` without a declaration is
the entry point. Nesting is parsed without recursion and bounded by `MOST_NESTED`.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from itertools import takewhile
from typing import Any, get_type_hints

from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.modes import Access, Mode, Stage
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.slots import SLOT_ENUMS
from gallette.compiler.nir.ir.variables import Parameter, Variable
from gallette.compiler.nir.text.lexer import Tokens
from gallette.compiler.nir.text.parse_code import CodeParser

_MAX_DIMENSIONS = 64


@cache
def _named_types() -> dict[str, t.Type]:
    """Every type with a fixed spelling."""
    found: dict[str, t.Type] = {}

    def enter(type: t.Type) -> None:
        found[str(type)] = type

    for base in takewhile(lambda base: base is not t.Base.SAMPLER, t.Base):  # the numeric ones
        for n in (1, 2, 3, 4, 5, 8, 16):
            enter(t.vec(base, n))
    for base in (t.Base.FLOAT, t.Base.DOUBLE, t.Base.FLOAT16):
        for columns in (2, 3, 4):
            for rows in (2, 3, 4):
                enter(t.mat(base, columns, rows))
    for dim in t.Dim:
        for base in (t.Base.FLOAT, t.Base.INT, t.Base.UINT, t.Base.INT64, t.Base.UINT64):
            for is_array in (False, True):
                enter(t.image(dim, is_array, base))
                enter(t.texture(dim, is_array, base))
                for shadow in (False, True):
                    enter(t.sampler(dim, shadow, is_array, base))
    for type in (t.VOID, t.ERROR, t.ATOMIC_UINT):
        enter(type)
    return found


class ShaderParser(Tokens):
    """Parses everything but code: the header, types, variables, functions."""

    def __init__(self, text: str, file: str):
        super().__init__(text, file)
        self.types: dict[str, t.Type] = {}
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Function] = {}

    def shader(self) -> Shader:
        self.expect("shader")
        where = self.current
        stage = self.word("a shader stage")
        if stage not in {s.value for s in Stage}:
            self.fail(f"unknown stage {stage!r}", where)
        name = self.string() if self.current.kind == "string" else ""
        shader = self.made = Shader(Stage(stage), name)
        while self.current.kind != "end":
            if self.accept("info"):
                self._info(shader.info)
            elif self.accept("type"):
                self._type_declaration()
            elif self.accept("var"):
                shader.variables.append(self._variable())
            elif self.accept("function"):
                self._function(shader)
            elif self.accept("impl"):
                self._impl(shader)
            else:
                self.fail(f"expected info, type, var, function or impl, found {self.shown()}")
        if not any(f.is_entry for f in shader.functions):
            self.fail("the shader has no entry point")
        return shader

    def _info(self, info: ShaderInfo) -> None:
        self.expect("{")
        kinds = {f.name: getattr(info, f.name) for f in fields(info)}
        while not self.accept("}"):
            where = self.current
            name = self.word("a field of the shader info")
            if name not in kinds:
                self.fail(f"the shader info has no {name!r}", where)
            self.expect("=")
            start = self.current
            value = self.literal()
            wanted = kinds[name]
            try:
                value = type(wanted)(value) if isinstance(wanted, (set, tuple)) else value
            except TypeError:
                self.fail(f"{name} is a {type(wanted).__name__}", start)
            if type(value) is not type(wanted):
                self.fail(f"{name} is a {type(wanted).__name__}", start)
            setattr(info, name, value)
            if not self.at("}"):
                self.expect(";")

    # Types.

    def read_type(self) -> t.Type:
        """Parse a type with layout and array dimensions."""
        where = self.current
        name = self.word("a type")
        if name == "subroutine" and self.accept(":"):
            base = t.subroutine(self.word("a subroutine type"))
        elif name.startswith("$"):
            while self.at(".") and self.peek().kind in ("number", "word"):
                self.advance()
                name += "." + self.advance().text
            found = self.types.get(name)
            if found is None:
                self.fail(f"type {name} is not declared", where)
            base = found
        else:
            found = _named_types().get(name)
            if found is None:
                self.fail(f"unknown type {name!r}", where)
            base = self._layout(found) if self.at("<") else found
        dimensions: list[tuple[int, int]] = []
        while self.accept("["):
            length = self.integer("an array length") if self.current.kind == "number" else 0
            stride = self.integer("an array stride") if self.accept(":") else 0
            self.expect("]")
            if length < 0 or len(dimensions) >= _MAX_DIMENSIONS:
                self.fail("not a possible array", where)
            dimensions.append((length, stride))
        for length, stride in reversed(dimensions):
            base = t.array(base, length, stride)
        return base

    def _layout(self, base: t.Type) -> t.Type:
        self.expect("<")
        if not base.is_numeric:
            self.fail(f"{base} has no layout")
        stride = self.integer("a stride")
        row_major = False
        if self.accept(","):
            self.expect("row_major")
            row_major = True
        self.expect(">")
        if base.is_matrix:
            return t.mat(base.base, base.columns, base.rows, stride, row_major)
        return t.vec(base.base, base.rows, stride)

    def _type_declaration(self) -> None:
        where = self.current
        name = self.word("a type name")
        while self.accept("."):
            name += "." + self.advance().text
        if not name.startswith("$") or name in self.types:
            self.fail(f"{name!r} is no new type name (they start with $)", where)
        self.expect("=")
        kind = self.current
        if not (self.accept("struct") or self.accept("interface")):
            self.fail("expected struct or interface")
        label = self.string()
        packing, row_major = "", False
        while self.current.kind == "word":
            if self.accept("row_major"):
                row_major = True
            else:
                packing = self.advance().text
        self.expect("{")
        members: list[t.Field] = []
        while not self.accept("}"):
            type = self.read_type()
            member = self.name("a member name")
            members.append(t.Field(member, type, **self._attributes(t.Field)))
            if not self.at("}"):
                self.expect(";")
        if kind.text == "interface":
            self.types[name] = t.interface(label, members, packing, row_major)
        else:
            self.types[name] = t.struct(label, members, packing)

    # Variables and functions.

    def modes(self) -> Mode:
        mode = Mode(0)
        while True:
            where = self.current
            name = self.word("a variable mode")
            if name.upper() not in Mode.__members__:
                self.fail(f"unknown mode {name!r}", where)
            mode |= Mode[name.upper()]
            if not self.accept("|"):
                return mode

    def _variable(self) -> Variable:
        mode = self.modes()
        type = self.read_type()
        where = self.current
        shown = self.name("a variable name")
        if shown in self.variables:
            self.fail(f"variable {shown!r} is declared twice", where)
        # The printer numbers variables of equal name: x, x#1, x#2.
        base, mark, _ = shown.rpartition("#")
        name = base if mark and base in self.variables else shown
        var = Variable(name, type, mode, **self._attributes(Variable))
        if var.constant_initializer is not None and not _fits(var.constant_initializer, type):
            self.fail(f"the initial value of {shown!r} does not have the shape of {type}", where)
        self.variables[shown] = var
        return var

    def _attributes(self, kind: type[Any]) -> dict[str, Any]:
        """Parse `(name=value, ...)` of a variable or member, typed as the class declares them."""
        values: dict[str, Any] = {}
        if not self.accept("("):
            return values
        hints = _HINTS[kind]
        while not self.accept(")"):
            where = self.current
            name = self.word("an attribute")
            if name not in hints or name in ("name", "type", "mode"):
                self.fail(f"there is no attribute {name!r}", where)
            self.expect("=")
            values[name] = self.attribute_value(hints[name])
            if not self.at(")"):
                self.expect(",")
        return values

    def attribute_value(self, hint: Any) -> Any:
        """Parse a value for a declaration with type `hint`."""
        where = self.current
        if hint in (t.Type, t.Type | None):
            return self.read_type()
        if hint is str:
            return self.name("a name")
        if self.current.text in SLOT_ENUMS and self.peek().text == ".":
            return self.slot()
        value = self.literal()
        if hint is bool or hint == bool | None:
            return bool(value)
        if hint is Access:
            return Access(value)
        if hint is int and not isinstance(value, int):
            self.fail("expected an integer", where)
        return value

    def slot(self) -> Any:
        """Parse `VARYING.POS` and the like."""
        slots = SLOT_ENUMS[self.advance().text]
        self.expect(".")
        where = self.current
        name = self.word("a slot name")
        if name not in slots.__members__:
            self.fail(f"there is no slot {name!r}", where)
        return slots[name]

    def _function(self, shader: Shader) -> None:
        where = self.current
        shown = self.name("a function name")
        if shown in self.functions:
            self.fail(f"function {shown!r} is declared twice", where)
        base, mark, _ = shown.rpartition("#")  # overloads are numbered like variables
        name = base if mark and base in self.functions else shown
        function = self.functions[shown] = shader.add_function(name)
        self.expect("(")
        while not self.accept(")"):
            size = self.word_or_number("a parameter size")
            type = self.read_type()
            label = self.name("a parameter name")
            if size == "deref":
                function.params.append(Parameter(label, type, is_deref=True))
            else:
                bits, _, components = size.partition("x")
                if not bits.isdigit() or not (components or "1").isdigit():
                    self.fail(f"{size!r} is no size such as 32x4", where)
                function.params.append(
                    Parameter(label, type, False, int(components or 1), int(bits))
                )
            if not self.at(")"):
                self.expect(",")
        function.is_entry = self.accept("entry")

    def word_or_number(self, what: str) -> str:
        if self.current.kind not in ("word", "number"):
            self.fail(f"expected {what}, found {self.shown()}")
        return self.advance().text

    def _impl(self, shader: Shader) -> None:
        where = self.current
        name = self.name("a function name")
        function = self.functions.get(name)
        if function is None:
            if name != "main":
                self.fail(f"function {name!r} is not declared", where)
            function = self.functions[name] = shader.add_function(name, is_entry=True)
        if function.impl is not None:
            self.fail(f"function {name!r} has two bodies", where)
        impl = FunctionImpl(shader, function)
        self.expect("{")
        while self.accept("var"):
            impl.locals.append(self._variable())
        CodeParser(self, impl).body()


_HINTS = {kind: get_type_hints(kind) for kind in (t.Field, Variable)}


def _fits(value: Any, type: t.Type) -> bool:
    """Whether nested constant tuples have the shape of `type`. Scalars are tuples of one."""
    if not isinstance(value, tuple):
        return False
    if type.is_vector_or_scalar:
        return len(value) == type.components and all(isinstance(v, int) for v in value)
    if type.is_struct:
        parts = [f.type for f in type.fields]
    else:
        parts = [type.indexed()] * type.indexed_length() if type.is_array or type.is_matrix else []
    return len(value) == len(parts) and all(map(_fits, value, parts))


def parse(text: str, file: str = "<nir>", *, check: bool = True) -> Shader:
    """Parse one shader. With `check` it is validated, too (with a `ValidationError` if
    that fails).
    """
    parser = ShaderParser(text, file)
    shader = parser.shader()
    if check:
        validate(shader, "parsing")
    return shader
