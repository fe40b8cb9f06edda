"""Small realistic faults of one source file, found in its syntax tree, written into its text.

A fault is a replacement of one stretch of text, so that everything else (comments, line numbers,
layout) stays what it was.

What no test is meant to notice is left out, so that a survivor means something: what only people
read (messages of errors, docstrings, help texts, captions, `repr`), what only the type checker or a
star import reads (annotations, `__all__`), what only checks or speeds up what is right without it
(assertions, `strict=True` of zip, `copy=False`, the size of a cache, `slots` of a dataclass), and
the question whether a module runs as a program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`old` at bytes `start:end` of the file becomes `new`."""

    line: int
    start: int
    end: int
    kind: str
    old: str
    new: str

    def planted(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]

    def __str__(self) -> str:
        def one_line(text: str) -> str:
            return " ".join(text.split())[:60]

        return f"{self.kind}: {one_line(self.old)} -> {one_line(self.new)}"


COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "//",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "|",
}
SILENT_CALLS = {"print", "debug", "warn", "append_log"}
# Keyword arguments that only people, checks or the clock notice.
FOR_PEOPLE = {"help", "description", "epilog", "metavar", "doc", "title", "subtitle", "caption"}
FOR_PEOPLE |= {"note", "why", "hint", "alt", "prog"}
WITHOUT_EFFECT = {"strict": "True", "copy": "False", "slots": "True", "repr": "False"}
SIZES_OF_CACHES = {"maxsize", "compresslevel"}


def faults_of(source: bytes) -> list[Fault]:
    """Every fault of one file, in the order of its text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found), key=lambda f: (f.start, f.end, f.new))


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.found: list[Fault] = []
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    # Where a node stands in the text; columns of `ast` are bytes.

    def begin(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def stop(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.source[self.begin(node) : self.stop(node)].decode()

    def add(self, kind: str, start: int, end: int, new: str) -> None:
        old = self.source[start:end].decode()
        line = self.source.count(b"\n", 0, start) + 1
        self.found.append(Fault(line, start, end, kind, old, new))

    def replace(self, kind: str, node: ast.expr | ast.stmt, new: str) -> None:
        self.add(kind, self.begin(node), self.stop(node), new)

    # Left out.

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_arg(self, node: ast.arg) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not _is_list_of_names(node.target):
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in ("__repr__", "__str__"):
            return
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        for statement in node.body:
            self.visit(statement)

    # Statements.

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node.test, ast.Compare) and ast.unparse(node.test.left) == "__name__":
            return
        if isinstance(node.test, ast.Compare | ast.BoolOp | ast.Call | ast.Name | ast.Attribute):
            self.replace("condition", node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            called = node.value.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name not in SILENT_CALLS:
                self.replace("forgotten call", node, "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if any(_is_list_of_names(target) for target in node.targets):
            return
        if all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets):
            self.replace("forgotten assignment", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.replace("forgotten update", node, "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.replace("jump", node, "break")

    def visit_Break(self, node: ast.Break) -> None:
        self.replace("jump", node, "continue")

    # Expressions.

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            new = COMPARISONS[type(operator)]
            self.add("comparison", self.stop(left), self.begin(right), f" {new} ")
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        new = " or " if isinstance(node.op, ast.And) else " and "
        for left, right in zip(node.values, node.values[1:], strict=False):
            between = self.source[self.stop(left) : self.begin(right)]
            if between.strip() in (b"and", b"or"):
                self.add("logic", self.stop(left), self.begin(right), new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self.replace("sign", node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        new = ARITHMETIC.get(type(node.op))
        between = self.source[self.stop(node.left) : self.begin(node.right)]
        text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        if new and b"(" not in between and b")" not in between and not text:
            self.add("arithmetic", self.stop(node.left), self.begin(node.right), f" {new} ")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.replace("constant", node, str(not value))
        elif isinstance(value, int):
            self.replace("constant", node, str(value + 1))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.replace("choice", node, f"({self.text(node.orelse)})")
        self.generic_visit(node)

    def _elements(self, node: ast.Tuple | ast.List | ast.Set) -> None:
        if isinstance(node.ctx if hasattr(node, "ctx") else ast.Load(), ast.Load):
            for before, element in zip(node.elts, node.elts[1:], strict=False):
                if b"(" not in self.source[self.stop(before) : self.begin(element)]:
                    self.add("forgotten element", self.stop(before), self.stop(element), "")
        self.generic_visit(node)

    visit_Tuple = visit_List = visit_Set = _elements

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not _is_type(node):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg is not None and _matters(keyword):
                self._drop_keyword(node, keyword)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if _matters(node):
            self.generic_visit(node)

    def _drop_keyword(self, call: ast.Call, keyword: ast.keyword) -> None:
        arguments: list[ast.expr] = [*call.args, *(k.value for k in call.keywords)]
        earlier = [a for a in arguments if self.stop(a) < self.begin(keyword.value)]
        if earlier:
            start = max(self.stop(a) for a in earlier)
            if b")" not in self.source[start : self.begin(keyword.value)]:
                self.add("forgotten argument", start, self.stop(keyword.value), "")


def _matters(keyword: ast.keyword) -> bool:
    """Could a program tell that this keyword argument is another, or missing?"""
    if keyword.arg is None or keyword.arg not in FOR_PEOPLE | SIZES_OF_CACHES | set(WITHOUT_EFFECT):
        return True
    wanted = WITHOUT_EFFECT.get(keyword.arg)
    return wanted is not None and ast.unparse(keyword.value) != wanted


def _is_list_of_names(target: ast.expr) -> bool:
    """`__all__`: what a star import would take, and there are none."""
    return isinstance(target, ast.Name) and target.id == "__all__"


def _is_type(node: ast.Subscript) -> bool:
    """`dict[str, int]`: a name of a type, with a capital letter or one of the built-ins."""
    name = getattr(node.value, "attr", getattr(node.value, "id", ""))
    return name in ("dict", "list", "tuple", "set", "frozenset", "type") or name[:1].isupper()


def lines_with_faults(source: bytes) -> Iterator[tuple[int, list[Fault]]]:
    """(line, its faults): what a sample spread by lines draws from."""
    by_line: dict[int, list[Fault]] = {}
    for fault in faults_of(source):
        by_line.setdefault(fault.line, []).append(fault)
    yield from sorted(by_line.items())
