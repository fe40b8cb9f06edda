"""The parser of statements and declarations, and `parse` itself.

It is hand-written recursive descent. An invalid construct is skipped to the next `;` or `}` and
parsing continues, so one compile reports several errors. Parsing GLSL requires knowing type names;
the scopes in `ExpressionParser` track those and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.glsl.diagnostics import Abort, Log, TooManyErrors
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.parse.expressions import ExpressionParser
from gallette.compiler.glsl.parse.keywords import classify
from gallette.compiler.glsl.parse.lexer import Token

_ENDS = frozenset(("}", "eof"))
_UNQUALIFIED = s.Qualifiers(0, 0)
"""shared by all declarations without qualifiers, whose location is never read"""
_STORAGE = frozenset(("in", "out", "uniform", "buffer", "varying", "attribute"))


class _Parser(ExpressionParser):
    # -- the unit ----------------------------------------------------------------------------

    def unit(self) -> s.Unit:
        body: list[s.Stmt] = []
        tokens = self.tokens
        while (kind := tokens[self.pos][0]) != "eof":
            start = self.pos
            self.depth = self.chained = 0
            del self.scopes[1:]
            try:
                if kind == ";":
                    self.pos += 1
                    continue
                body.append(self.declaration(top=True))
            except TooManyErrors:
                raise
            except Abort:
                self.recover(start)
                if self.kind == "}":
                    self.pos += 1
        if self.pos == 0:
            self.log.error("a shader declares something", self.loc)
        return s.Unit(0, self.loc, body)

    def recover(self, start: int) -> None:
        """Skip past the next `;` of this nesting level, or up to its closing brace."""
        if self.pos == start:
            self.pos += 1
        depth = 0
        while self.kind != "eof":
            kind = self.kind
            if kind == "{":
                depth += 1
            elif kind == "}":
                if depth == 0:
                    return
                depth -= 1
                if depth == 0:
                    self.pos += 1
                    return
            elif kind == ";" and depth == 0:
                self.pos += 1
                return
            self.pos += 1

    # -- declarations ------------------------------------------------------------------------

    def qualifiers(self) -> s.Qualifiers:
        tokens = self.tokens
        kind, word, loc = tokens[self.pos]
        if kind != "qual":
            return _UNQUALIFIED
        quals = s.Qualifiers(loc, loc)
        while kind == "qual":
            self.pos += 1
            if word == "layout":
                quals.layout_groups += 1
                self.layout(quals)
            elif word == "subroutine" and self.kind == "(":
                self.pos += 1
                names = [self.name_node()]
                while self.accept(","):
                    names.append(self.name_node())
                self.expect(")", "subroutine types")
                quals.subroutine_types = names
                quals.words.append((word, loc))
            else:
                quals.words.append((word, loc))
            kind, word, loc = tokens[self.pos]
        quals.end = self.last_end
        return quals

    def name_node(self) -> s.Name:
        _, text, loc = self.expect("id")
        return s.Name(loc, loc + len(text), text)

    def layout(self, quals: s.Qualifiers) -> None:
        self.expect("(")
        while True:
            kind, text, loc = self.tokens[self.pos]
            if not text.replace("_", "a").isalnum() or kind in ("eof", "num"):
                raise self.unexpected("a layout qualifier")
            self.pos += 1
            value = self.conditional() if self.accept("=") else None
            quals.layout.append(s.LayoutId(loc, self.last_end, text, value))
            if not self.accept(","):
                break
        self.expect(")", "layout qualifiers")

    def type_ref(self) -> s.TypeRef:
        kind, text, loc = self.tokens[self.pos]
        if kind == "struct":
            struct = self.struct()
            ref = s.TypeRef(loc, self.last_end, struct.name, struct, [])
        elif kind == "type" or (kind == "id" and self.is_type_name(text)):
            self.pos += 1
            ref = s.TypeRef(loc, loc + len(text), text, None, [])
        elif kind == "id":
            raise self.log.abort(
                f"unknown type '{text}'", loc, loc + len(text), self.suggest_type(text)
            )
        else:
            raise self.unexpected("a type")
        if self.tokens[self.pos][0] == "[":
            ref.dims = self.array_dims()
            ref.end = self.last_end
        return ref

    def struct(self) -> s.StructDef:
        loc = self.loc
        self.pos += 1
        name = ""
        if self.kind == "id":
            name = self.tokens[self.pos][1]
            self.pos += 1
            self.declare(name, True)
        members = self.members("structure")
        return s.StructDef(loc, self.last_end, name, members)

    def members(self, what: str) -> list[s.Declaration]:
        self.expect("{")
        self.enter()
        members: list[s.Declaration] = []
        while self.kind not in ("}", "eof"):
            loc = self.loc
            quals = self.qualifiers()
            ref = self.type_ref()
            declarators = []
            while True:
                _, name, name_loc = self.expect("id")
                dims = self.array_dims()
                declarators.append(s.Declarator(name_loc, self.last_end, name, dims, None))
                if self.kind == "=":
                    raise self.log.abort(f"members of a {what} cannot have initializers", self.loc)
                if not self.accept(","):
                    break
            self.expect(";", "member")
            members.append(s.Declaration(loc, self.last_end, quals, ref, declarators))
        if not members:
            self.log.error(f"a {what} needs at least one member", self.loc)
        self.depth -= 1
        self.expect("}", "members")
        return members

    def declaration(self, top: bool) -> s.Stmt:
        """A declaration: variables, functions, blocks, precision, redeclarations."""
        tokens, pos = self.tokens, self.pos
        kind, word, loc = tokens[pos]
        if (
            kind == "qual"
            and tokens[pos + 1][0] == "type"
            and tokens[pos + 2][0] == "id"
            and tokens[pos + 3][0] == ";"
            and word != "layout"
        ):
            return self.qualified_variable()  # the usual case
        if kind == "precision":
            return self.precision()
        quals = self.qualifiers()
        kind = self.tokens[self.pos][0]
        qualified = quals.words or quals.layout
        if kind == "type":  # the usual case
            ref = self.type_ref()
            pos = self.pos
            if self.tokens[pos][0] == "id" and self.tokens[pos + 1][0] != "(":
                return self.variables(loc, quals, ref)
            return self.typed(loc, quals, ref, top)
        if kind == "id" and qualified and self.peek() == "{":
            return self.block(loc, quals)
        if kind == ";" and qualified:
            self.pos += 1
            return s.Declaration(loc, self.last_end, quals, None, [])
        starts_type = self.starts_type()
        if kind == "id" and qualified and not starts_type and self.peek() in (",", ";"):
            names = []
            while True:
                _, name, name_loc = self.expect("id")
                names.append(s.Declarator(name_loc, self.last_end, name, [], None))
                if not self.accept(","):
                    break
            self.expect(";", "declaration")
            return s.Declaration(loc, self.last_end, quals, None, names)
        if top and not starts_type and kind != "id":
            raise self.unexpected("a declaration")
        return self.typed(loc, quals, self.type_ref(), top)

    def qualified_variable(self) -> s.Declaration:
        """Parse `uniform vec4 color;` and nothing more."""
        start = self.pos
        (_, word, loc), (_, type_name, at), (_, name, where), (_, _, end) = self.tokens[
            start : start + 4
        ]
        self.pos = start + 4
        self.scopes[-1][name] = False
        quals = s.Qualifiers(loc, loc + len(word), [(word, loc)])
        ref = s.TypeRef(at, at + len(type_name), type_name, None, [])
        declarator = s.Declarator(where, where + len(name), name, [], None)
        return s.Declaration(loc, end + 1, quals, ref, [declarator])

    def typed(self, loc: int, quals: s.Qualifiers, ref: s.TypeRef, top: bool) -> s.Stmt:
        """Parse what follows the type of a declaration."""
        if self.kind == ";":
            self.pos += 1
            return s.Declaration(loc, self.last_end, quals, ref, [])
        if self.accept(","):  # `float, x;`: the first declarator may lack its name
            return self.variables(loc, quals, ref)
        if self.kind == "id" and self.peek() == "(":
            if not top:
                # GLSL 1.10 allows prototypes inside functions; later versions and ES do not.
                if not self.lang.has("110-110"):
                    raise self.log.abort("functions cannot be declared here", self.loc)
            return self.function(loc, quals, ref)
        return self.variables(loc, quals, ref)

    def starts_type(self) -> bool:
        kind, text, _ = self.tokens[self.pos]
        return kind in ("type", "struct") or (kind == "id" and self.is_type_name(text))

    def variables(self, loc: int, quals: s.Qualifiers, ref: s.TypeRef) -> s.Declaration:
        declarators = []
        while True:
            declarators.append(self.declarator())
            if self.tokens[self.pos][0] != ",":
                break
            self.pos += 1
        end = self.expect(";", "declaration")[2] + 1
        return s.Declaration(loc, end, quals, ref, declarators)

    def declarator(self) -> s.Declarator:
        _, name, loc = self.expect("id")
        end = loc + len(name)
        dims: list[s.Expr | None] = []
        after = self.tokens[self.pos][0]
        if after == "[":
            dims = self.array_dims()
            end = self.last_end
            after = self.tokens[self.pos][0]
        self.scopes[-1][name] = False
        init = None
        if after == "=":
            self.pos += 1
            init = self.initializer()
        return s.Declarator(loc, end, name, dims, init)

    def precision(self) -> s.Precision:
        loc = self.loc
        self.pos += 1
        kind, word, _at = self.tokens[self.pos]
        if kind != "qual" or word not in ("highp", "mediump", "lowp"):
            raise self.unexpected("highp, mediump or lowp")
        self.pos += 1
        ref = self.type_ref()
        self.expect(";", "precision statement")
        return s.Precision(loc, self.last_end, word, ref)

    def block(self, loc: int, quals: s.Qualifiers) -> s.BlockDecl:
        _, name, _ = self.expect("id")
        if not any(w in _STORAGE for w, _ in quals.words):
            raise self.log.abort(
                f"interface block '{name}' needs a storage qualifier",
                quals.loc,
                quals.end,
                "expected in, out, uniform or buffer",
            )
        members = self.members("block")
        instance = None
        if self.kind == "id":
            _, text, at = self.tokens[self.pos]
            self.pos += 1
            dims = self.array_dims()
            self.declare(text)
            instance = s.Declarator(at, self.last_end, text, dims, None)
        else:
            for member in members:
                for d in member.declarators:
                    self.declare(d.name)
        self.expect(";", "interface block")
        return s.BlockDecl(loc, self.last_end, quals, name, members, instance)

    def function(self, loc: int, quals: s.Qualifiers, ref: s.TypeRef) -> s.FunctionDecl:
        self.no_definition(ref)
        _, name, name_loc = self.expect("id")
        # `subroutine vec4 kind(float);` declares a type.
        is_type = quals is not _UNQUALIFIED and quals.has("subroutine")
        self.declare(name, is_type and quals.subroutine_types is None)
        self.expect("(")
        params: list[s.Param] = []
        kind, text, _ = self.tokens[self.pos]
        if kind == "type" and text == "void" and self.peek() == ")":
            self.pos += 1
        elif kind != ")":
            params.append(self.param())
            while self.accept(","):
                params.append(self.param())
        self.expect(")", "parameters")
        if self.tokens[self.pos][0] == "{":
            self.scopes.append({p.name: False for p in params if p.name})
            body = self.compound(scope=False)
            self.scopes.pop()
            return s.FunctionDecl(loc, self.last_end, quals, ref, name, name_loc, params, body)
        self.expect(";", "function prototype")
        return s.FunctionDecl(loc, self.last_end, quals, ref, name, name_loc, params, None)

    def no_definition(self, ref: s.TypeRef) -> None:
        """Refuse structures that the type of a parameter or of a result defines."""
        if ref.struct is not None:
            self.log.error("structures cannot be defined in a function's type", ref.loc, ref.end)

    def param(self) -> s.Param:
        loc = self.loc
        quals = self.qualifiers()
        ref = self.type_ref()
        self.no_definition(ref)
        name, dims = "", []
        if self.kind == "id":
            name = self.tokens[self.pos][1]
            self.pos += 1
            dims = self.array_dims()
        return s.Param(loc, self.last_end, quals, ref, name, dims)

    # -- statements --------------------------------------------------------------------------

    def compound(self, scope: bool = True) -> s.Compound:
        loc = self.loc
        self.expect("{")
        self.enter()
        if scope:
            self.scopes.append({})
        body = self.statements()
        if scope:
            self.scopes.pop()
        self.depth -= 1
        self.expect("}", "block")
        return s.Compound(loc, self.last_end, body)

    def statements(self) -> list[s.Stmt]:
        body: list[s.Stmt] = []
        tokens = self.tokens
        while tokens[self.pos][0] not in _ENDS:
            start, scopes = self.pos, len(self.scopes)
            depth, chained = self.depth, self.chained
            try:
                body.append(self.statement())
            except TooManyErrors:
                raise
            except Abort:
                self.depth, self.chained = depth, chained
                del self.scopes[scopes:]
                self.recover(start)
        return body

    def scoped_statement(self) -> s.Stmt:
        """The body of an if or loop, which is a scope even without braces."""
        self.scopes.append({})
        if self.kind == "{":
            body: s.Stmt = self.compound(scope=False)  # it counts as a level itself
        else:
            self.enter()
            body = self.statement()
            self.depth -= 1
        self.scopes.pop()
        return body

    def is_declaration(self) -> bool:
        """Whether a declaration starts here, rather than an expression."""
        kind, text, _ = self.tokens[self.pos]
        after = self.tokens[self.pos + 1][0] if kind != "eof" else kind
        if kind == "type" and after != "[":
            return after in ("id", ";", ",")
        if kind in ("qual", "struct", "precision"):
            return True
        if kind == "id":
            if after == "id":
                return True
            if after not in ("[", ";", ",") or not self.is_type_name(text):
                return False
        elif kind != "type":
            return False
        ahead, depth = 1, 0
        if after in (";", ","):
            return True
        while self.peek(ahead) == "[":  # a type with dimensions: find what follows the brackets
            while True:
                inner = self.peek(ahead)
                depth += (inner == "[") - (inner == "]")
                ahead += 1
                if depth == 0 or inner == "eof":
                    break
        return self.peek(ahead) == "id"

    def statement(self) -> s.Stmt:
        rule = _STATEMENTS.get(self.tokens[self.pos][0])
        if rule is not None:
            return rule(self)
        if self.is_declaration():
            return self.declaration(top=False)
        loc = self.loc
        expr = self.expression()
        end = self.expect(";", "expression")[2] + 1
        return s.ExprStmt(loc, end, expr)

    def empty_statement(self) -> s.ExprStmt:
        loc = self.loc
        self.pos += 1
        return s.ExprStmt(loc, loc + 1, None)

    def while_statement(self) -> s.While:
        loc = self.loc
        self.pos += 1
        self.scopes.append({})
        self.expect("(")
        condition = self.condition()
        self.expect(")", "condition")
        body = self.scoped_statement()
        self.scopes.pop()
        return s.While(loc, self.last_end, condition, body)

    def do_statement(self) -> s.DoWhile:
        loc = self.loc
        self.pos += 1
        body = self.scoped_statement()
        if self.kind != "while":
            raise self.unexpected("'while'")
        self.pos += 1
        self.expect("(")
        test = self.expression()
        self.expect(")", "condition")
        self.expect(";", "do-while")
        return s.DoWhile(loc, self.last_end, body, test)

    def case_label(self) -> s.Case:
        kind, _, loc = self.tokens[self.pos]
        self.pos += 1
        value = self.expression() if kind == "case" else None
        self.expect(":")
        return s.Case(loc, self.last_end, value)

    def jump(self) -> s.Jump:
        kind, text, loc = self.tokens[self.pos]
        self.pos += 1
        self.expect(";", f"'{kind}'")
        return s.Jump(loc, loc + len(text), kind, None)

    def return_statement(self) -> s.Jump:
        loc = self.loc
        self.pos += 1
        value = None if self.kind == ";" else self.expression()
        self.expect(";", "'return'")
        return s.Jump(loc, self.last_end - 1, "return", value)

    def stray_else(self) -> s.Stmt:
        loc = self.loc
        raise self.log.abort("'else' without a matching 'if'", loc, loc + 4)

    def if_statement(self) -> s.If:
        """An if with its else-ifs, which are parsed in a loop since chains of them are long."""
        chain: list[tuple[int, s.Expr, s.Stmt]] = []
        otherwise: s.Stmt | None = None
        while True:
            loc = self.loc
            self.pos += 1
            self.expect("(")
            condition = self.expression()
            self.expect(")", "condition")
            chain.append((loc, condition, self.scoped_statement()))
            if not self.accept("else"):
                break
            if self.kind != "if":
                otherwise = self.scoped_statement()
                break
            self.chained += 1
            self.enter()
            self.depth -= 1
        self.chained -= len(chain) - 1
        end = self.last_end
        loc, condition, then = chain.pop()
        statement = s.If(loc, end, condition, then, otherwise)
        while chain:
            loc, condition, then = chain.pop()
            statement = s.If(loc, end, condition, then, statement)
        return statement

    def condition(self) -> s.Expr | s.Declaration:
        if not self.is_declaration():
            return self.expression()
        loc = self.loc
        quals = self.qualifiers()
        ref = self.type_ref()
        declarator = self.declarator()
        if declarator.init is None:
            raise self.log.abort("a condition's variable needs an initializer", self.loc)
        return s.Declaration(loc, self.last_end, quals, ref, [declarator])

    def for_statement(self) -> s.For:
        loc = self.loc
        self.pos += 1
        self.expect("(")
        self.scopes.append({})
        init: s.Stmt | None = None
        if not self.accept(";"):
            if self.is_declaration():
                init = self.declaration(top=False)
            else:
                at = self.loc
                init = s.ExprStmt(at, self.loc, self.expression())
                self.expect(";", "for initializer")
        condition = None if self.kind == ";" else self.condition()
        self.expect(";", "for condition")
        step = None if self.kind == ")" else self.expression()
        self.expect(")", "for")
        body = self.scoped_statement()
        self.scopes.pop()
        return s.For(loc, self.last_end, init, condition, step, body)

    def switch_statement(self) -> s.Switch:
        loc = self.loc
        self.pos += 1
        self.expect("(")
        selector = self.expression()
        self.expect(")", "switch selector")
        self.expect("{")
        self.enter()
        self.scopes.append({})
        body = self.statements()
        self.scopes.pop()
        self.depth -= 1
        self.expect("}", "switch body")
        return s.Switch(loc, self.last_end, selector, body)


_STATEMENTS: dict[str, Callable[[_Parser], s.Stmt]] = {
    "{": _Parser.compound,
    ";": _Parser.empty_statement,
    "if": _Parser.if_statement,
    "for": _Parser.for_statement,
    "while": _Parser.while_statement,
    "do": _Parser.do_statement,
    "switch": _Parser.switch_statement,
    "case": _Parser.case_label,
    "default": _Parser.case_label,
    "return": _Parser.return_statement,
    "else": _Parser.stray_else,
    **dict.fromkeys(("break", "continue", "discard", "demote"), _Parser.jump),
}
"""Statements by their first token; all others are declarations or expressions."""


def parse(tokens: list[Token], lang: Language, log: Log, classified: bool = False) -> s.Unit:
    """Build the syntax tree; constructs with errors are missing from it and reported in `log`."""
    return _Parser(tokens if classified else classify(tokens, lang, log), lang, log).unit()
