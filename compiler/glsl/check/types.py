"""Types as written, structures, array sizes, default precision, initializers."""

from __future__ import annotations

from gallette.compiler.glsl.availability import ARRAYS, ARRAYS_OF_ARRAYS
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.constructors import make_constructed
from gallette.compiler.glsl.check.context import Checker
from gallette.compiler.glsl.check.declaration_rules import check_declaration
from gallette.compiler.glsl.check.qualifiers import read_qualifiers
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Field, Type
from gallette.compiler.work_limits import too_large


def resolve_type(c: Checker, ref: s.TypeRef) -> Type:
    if ref.struct is not None:
        type_ = struct_type(c, ref.struct)
    else:
        symbol = TYPE_NAMES.get(ref.name) or c.find(ref.name)
        if not isinstance(symbol, Type):
            raise c.abort(f"'{ref.name}' is not a type", ref, c.suggest(ref.name))
        type_ = symbol
    if ref.dims:
        c.need(ARRAYS, "an array type", ref)
        type_ = array_of(c, type_, ref.dims, ref)
    return type_


def array_of(c: Checker, type_: Type, dims: list[s.Expr | None], node: s.Node) -> Type:
    """The array type with the written dimensions, the first one outermost."""
    if not dims:
        return type_
    if (len(dims) > 1 or type_.is_array) and not c.lang.has(ARRAYS_OF_ARRAYS):
        hint = c.where(ARRAYS_OF_ARRAYS)
        raise c.abort(f"arrays of arrays are not available in {c.lang.name}", node, hint)
    if type_ is t.VOID:
        raise c.abort("an array of void makes no sense", node)
    for dim in reversed(dims):
        if dim is None:
            type_ = t.array(type_, 0)
            continue
        size = array_size(c, dim)
        type_ = t.array(type_, size)
    if type_.array_elements > c.limits.max_array_elements:
        raise c.abort(f"'{type_}' has too many elements", node)
    check_size(c, type_, node)
    return type_


def check_inner_sizes(c: Checker, type_: Type, node: s.Node) -> None:
    if type_.element is not None and not type_.element.array_elements:
        raise c.abort("only the outermost dimension of an array can lack a size", node)


def check_size(c: Checker, type_: Type, node: s.Node) -> None:
    """Reject types of which a single copy or comparison would take too long."""
    excess = too_large(type_)
    if excess:
        raise c.abort(excess, node)


def array_size(c: Checker, dim: s.Expr) -> int:
    value = c.expr(dim)
    size = c.integer_constant(value, "an array size")
    if size <= 0:
        raise c.abort(f"an array size must be positive, not {size}", dim)
    if size > c.limits.max_array_elements:
        raise c.abort(f"an array of {size} elements is too large", dim)
    return size


def struct_type(c: Checker, node: s.StructDef) -> Type:
    fields: list[Field] = []
    names: set[str] = set()
    precisions: list[str] = []
    if node.name:
        c.check_identifier(node.name, node)
    for member in node.members:
        assert member.type is not None
        quals = read_qualifiers(c, member.quals, "field")
        if member.type.struct is not None and not c.lang.has("110-110"):
            raise c.abort("structures cannot be defined inside structures", member)
        base = resolve_type(c, member.type)
        for d in member.declarators:
            c.check_identifier(d.name, d)
            type_ = array_of(c, base, d.dims, d)
            check_inner_sizes(c, type_, d)
            check_declaration(c, "field", quals, type_, d)
            if d.name in names:
                raise c.abort(f"member '{d.name}' is repeated", d)
            names.add(d.name)
            check_precision(c, type_, quals, d)
            precisions.append(quals.precision)
            fields.append(Field(d.name, type_))
    name = node.name
    if not name:
        name = f"#anonymous{c.anonymous}"
        c.anonymous += 1
    type_ = t.struct(name, fields)
    check_size(c, type_, node)
    if c.lang.es:
        c.shader.precisions[name] = tuple(precisions)
    if node.name:
        c.declare(node.name, type_, node)
    return type_


def precision_statement(c: Checker, node: s.Precision) -> None:
    type_ = resolve_type(c, node.type)
    if node.type.dims or type_.is_struct:
        raise c.abort("default precision cannot be set for arrays or structures", node.type)
    if type_ not in (t.FLOAT, t.INT) and not type_.is_opaque:
        raise c.abort("default precision can be set for float, int and opaque types", node.type)
    c.precisions[-1][str(type_)] = node.precision


def default_precision(c: Checker, type_: Type) -> str | None:
    key = str(type_)
    if type_.base is Base.FLOAT and type_.is_numeric:
        key = "float"
    elif type_.is_integer:
        key = "int"
    for scope in reversed(c.precisions):
        if key in scope:
            return scope[key]
    if key == "float":
        return "" if c.stage == "fragment" else "highp"
    if type_.is_integer:
        return "mediump" if c.stage == "fragment" else "highp"
    if type_.is_opaque:
        if key in ("sampler2D", "samplerCube", "samplerExternalOES"):
            return "lowp"
        return "highp" if type_.base is Base.ATOMIC_UINT else ""
    return None


def check_precision(c: Checker, type_: Type, quals: hir.Quals, node: s.Node) -> None:
    """Check that in GLSL ES every float, int and sampler has a precision, its own or the
    default.
    """
    explicit = quals.precision
    if not explicit and not c.lang.es:
        return
    element = type_.without_array
    if explicit:
        wide = element.is_numeric and element.bit_size == 64
        if element.is_boolean or element.is_struct or element is t.VOID or wide:
            c.error(f"'{element}' has no precision", node)
        elif element.base is Base.ATOMIC_UINT and explicit != "highp" and c.lang.es:
            c.error("atomic counters are highp", node)
        return
    if element.is_struct:
        return
    default = default_precision(c, element)
    if default is not None:
        quals.precision = default
    if default == "":
        c.error(
            f"no precision for type '{element}'",
            node,
            f"write 'precision mediump {element if element.is_opaque else 'float'};'",
        )


def read_initializer(c: Checker, node: s.Expr, type_: Type, what: str) -> hir.Expr:
    """The initial value of a variable of `type_`, which may be an unsized array."""
    if isinstance(node, s.InitList):
        return init_from_list(c, node, type_)
    value = c.expr(node)
    if value.type is t.VOID:
        raise c.abort("a void expression has no value", node)
    if c.lang.es and type_.is_unsized_array and value.type.is_unsized_array:
        raise c.abort(f"{what}: an array without a size gives none", node)
    if sizes_match(c, type_, value.type):
        return value
    return c.coerce(value, type_, what)


def sizes_match(c: Checker, wanted: Type, given: Type) -> bool:
    """Whether types are equal except for dimensions that the declaration leaves open."""
    if wanted is given:
        return True
    if wanted.element is None or given.element is None:
        return False
    if wanted.length not in (0, given.length):
        return False
    return sizes_match(c, wanted.element, given.element)


def init_from_list(c: Checker, node: s.InitList, type_: Type) -> hir.Expr:
    if type_.is_array:
        element = type_.element
        assert element is not None
        if type_.length and len(node.items) != type_.length:
            raise c.abort(f"'{type_}' needs {type_.length} elements, {len(node.items)} given", node)
        values: list[hir.Expr] = []
        for item in node.items:
            values.append(read_initializer(c, item, element, "array element"))
            if element.is_array:  # the first element gives all others the sizes it lacks
                element = values[0].type
        return make_constructed(c, t.array(element, len(values)), values, node)
    if type_.is_struct:
        if len(node.items) != len(type_.fields):
            raise c.abort(
                f"'{type_}' has {len(type_.fields)} members, {len(node.items)} given", node
            )
        values = [
            read_initializer(c, i, f.type, f"member '{f.name}'")
            for i, f in zip(node.items, type_.fields, strict=True)
        ]
        return make_constructed(c, type_, values, node)
    if type_.is_matrix:
        parts, wanted = type_.column_type, type_.columns
    elif type_.is_vector:
        parts, wanted = t.scalar(type_.base), type_.rows
    else:
        raise c.abort(f"'{type_}' cannot be initialized by a list", node)
    if len(node.items) != wanted:
        raise c.abort(f"'{type_}' needs {wanted} values, {len(node.items)} given", node)
    values = [read_initializer(c, i, parts, "component") for i in node.items]
    return make_constructed(c, type_, values, node)
