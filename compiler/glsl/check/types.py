"""Types as written, structures, array sizes, default precision, initializers."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.qualifiers import QualifierChecker
from gallette.compiler.glsl.check.typenames import TYPE_NAMES
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Field, Type

__all__ = ["TypeChecker"]

_AOA = "430 ARB_arrays_of_arrays es310 ARB_geometry_shader4"


class TypeChecker(QualifierChecker):
    """Resolves type references and checks values against them."""

    anonymous = 0

    def resolve_type(self, ref: s.TypeRef) -> Type:
        if ref.struct is not None:
            type_ = self.struct(ref.struct)
        elif ref.name in TYPE_NAMES:
            type_ = TYPE_NAMES[ref.name]
        else:
            symbol = self.find(ref.name)
            if not isinstance(symbol, Type):
                raise self.abort(f"'{ref.name}' is not a type", ref, self.suggest(ref.name))
            type_ = symbol
        if ref.dims:
            self.need("120 es300", "an array type", ref)
            type_ = self.array_of(type_, ref.dims, ref)
        return type_

    def array_of(self, type_: Type, dims: list[s.Expr | None], node: s.Node) -> Type:
        """Wrap a type into the written dimensions, the first one outermost."""
        if dims and (len(dims) > 1 or type_.is_array) and not self.lang.has(_AOA):
            raise self.abort(
                f"arrays of arrays are not available in {self.lang.name}", node, self.where(_AOA)
            )
        if dims and type_ is t.VOID:
            raise self.abort("an array of void makes no sense", node)
        for i, dim in enumerate(reversed(dims)):
            if dim is None:
                if i < len(dims) - 1 and not self.lang.has(_AOA):
                    raise self.abort("only the outermost dimension can be left open", node)
                type_ = t.array(type_, 0)
                continue
            size = self.array_size(dim)
            type_ = t.array(type_, size)
        if type_.array_elements > self.limits.max_array_elements:
            raise self.abort(f"'{type_}' has too many elements", node)
        return type_

    def array_size(self, dim: s.Expr) -> int:
        value = self.expr(dim)
        size = self.integer_constant(value, "an array size")
        if size <= 0:
            raise self.abort(f"an array size must be positive, not {size}", dim)
        if size > self.limits.max_array_elements:
            raise self.abort(f"an array of {size} elements is too large", dim)
        return size

    def struct(self, node: s.StructDef) -> Type:
        fields: list[Field] = []
        names: set[str] = set()
        if node.name:
            self.check_identifier(node.name, node)
        for member in node.members:
            assert member.type is not None
            for word, loc in member.quals.words:
                memory = word in ("readonly", "writeonly", "coherent", "volatile", "restrict")
                if memory and self.lang.has("ARB_bindless_texture"):
                    continue
                if word not in ("highp", "mediump", "lowp"):
                    raise self.log.abort(
                        f"'{word}' cannot be used on structure members", loc, loc + len(word)
                    )
            if member.quals.layout:
                raise self.abort("structure members have no layout", member.quals)
            if member.type.struct is not None and self.lang.has("es"):
                raise self.abort("structures cannot be defined inside structures", member)
            base = self.resolve_type(member.type)
            for d in member.declarators:
                self.check_identifier(d.name, d)
                type_ = self.array_of(base, d.dims, d)
                if type_ is t.VOID:
                    raise self.abort("members cannot be void", d)
                if type_.is_unsized_array:
                    raise self.abort("arrays in structures need a size", d)
                if type_.base is Base.ATOMIC_UINT or type_.without_array.base is Base.ATOMIC_UINT:
                    raise self.abort("atomic counters cannot be structure members", d)
                if type_.without_array.is_image and not self.lang.has("ARB_bindless_texture"):
                    raise self.abort("images cannot be structure members", d)
                if d.name in names:
                    raise self.abort(f"member '{d.name}' is repeated", d)
                names.add(d.name)
                self.check_precision(type_, member.quals, d)
                fields.append(Field(d.name, type_))
        name = node.name
        if not name:
            name = f"#anonymous{TypeChecker.anonymous}"
            TypeChecker.anonymous += 1
        type_ = t.struct(name, fields)
        if node.name:
            self.declare(node.name, type_, node)
        return type_

    # -- precision ---------------------------------------------------------------------------

    def precision_statement(self, node: s.Precision) -> None:
        type_ = self.resolve_type(node.type)
        if node.type.dims or type_.is_struct:
            raise self.abort("default precision cannot be set for arrays or structures", node.type)
        if type_ not in (t.FLOAT, t.INT) and not type_.is_opaque:
            raise self.abort(
                "default precision can be set for float, int and opaque types", node.type
            )
        self.precisions[-1][str(type_)] = node.precision

    def default_precision(self, type_: Type) -> str | None:
        key = str(type_)
        if type_.base is Base.FLOAT and type_.is_numeric:
            key = "float"
        elif type_.is_integer:
            key = "int"
        for scope in reversed(self.precisions):
            if key in scope:
                return scope[key]
        if key == "float":
            return "" if self.stage == "fragment" else "highp"
        if type_.is_integer:
            return "mediump" if self.stage == "fragment" else "highp"
        if type_.is_opaque:
            if key in ("sampler2D", "samplerCube", "samplerExternalOES"):
                return "lowp"
            return "highp" if type_.base is Base.ATOMIC_UINT else ""
        return None

    def check_precision(self, type_: Type, quals: s.Qualifiers | hir.Quals, node: s.Node) -> None:
        """In GLSL ES every float, int and sampler needs a precision, its own or the default."""
        explicit = (
            quals.precision
            if isinstance(quals, hir.Quals)
            else next((w for w, _ in quals.words if w in ("highp", "mediump", "lowp")), "")
        )
        element = type_.without_array
        if explicit:
            wide = element.is_numeric and element.bit_size == 64
            if element.is_boolean or element.is_struct or element is t.VOID or wide:
                self.error(f"'{element}' has no precision", node)
            return
        if not self.lang.es or element.is_struct:
            return
        default = self.default_precision(element)
        if isinstance(quals, hir.Quals) and default is not None:
            quals.precision = default
        if default == "":
            self.error(
                f"no precision for type '{element}'",
                node,
                f"write 'precision mediump {element if element.is_opaque else 'float'};'",
            )

    # -- initializers ------------------------------------------------------------------------

    def initializer(self, node: s.Expr, type_: Type, what: str) -> hir.Expr:
        """The value for a variable of `type_`, which may be an unsized array."""
        if isinstance(node, s.InitList):
            return self.init_from_list(node, type_)
        value = self.expr(node)
        if value.type is t.VOID:
            raise self.abort("a void expression has no value", node)
        if self.sizes_match(type_, value.type):
            return value
        return self.coerce(value, type_, what)

    def sizes_match(self, wanted: Type, given: Type) -> bool:
        """Equal up to dimensions the declaration left open?"""
        if wanted is given:
            return True
        if wanted.element is None or given.element is None:
            return False
        if wanted.length not in (0, given.length):
            return False
        return self.sizes_match(wanted.element, given.element)

    def init_from_list(self, node: s.InitList, type_: Type) -> hir.Expr:
        if type_.is_array:
            element = type_.element
            assert element is not None
            if type_.length and len(node.items) != type_.length:
                raise self.abort(
                    f"'{type_}' needs {type_.length} elements, {len(node.items)} given", node
                )
            values = [self.initializer(i, element, "array element") for i in node.items]
            if element.is_unsized_array and values:
                element = values[0].type
            return self.make(t.array(element, len(values)), values, node)
        if type_.is_struct:
            if len(node.items) != len(type_.fields):
                raise self.abort(
                    f"'{type_}' has {len(type_.fields)} members, {len(node.items)} given", node
                )
            values = [
                self.initializer(i, f.type, f"member '{f.name}'")
                for i, f in zip(node.items, type_.fields, strict=True)
            ]
            return self.make(type_, values, node)
        if type_.is_matrix:
            parts, wanted = type_.column_type, type_.columns
        elif type_.is_vector:
            parts, wanted = t.scalar(type_.base), type_.rows
        else:
            raise self.abort(f"'{type_}' cannot be initialized by a list", node)
        if len(node.items) != wanted:
            raise self.abort(f"'{type_}' needs {wanted} values, {len(node.items)} given", node)
        values = [self.initializer(i, parts, "component") for i in node.items]
        return self.make(type_, values, node)
