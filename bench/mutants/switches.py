"""Many faults in one program, each asleep until its number is called.

A body of a function with faults becomes

    if PLANTED[0] == 17: <the body with fault 17>
    elif PLANTED[0] == 23: <the body with fault 23>
    else: <the body>

so that gallette and all tests are imported and collected once, and a fork of that process tries a
fault without delay. `runtime/sitecustomize.py` loads these modules, in processes that tests start
too. A fault outside functions (a table, a default) acts while its module is imported: it has no
switch, and is written into the file.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from .faults import Fault
from .probes import bind, compile_into

Functions = list[ast.FunctionDef | ast.AsyncFunctionDef]


def switched(tree: Path, faults: Sequence[tuple[str, Fault]], folder: Path) -> set[int]:
    """Compile the modules of `faults` with switches into `folder`; which numbers have one."""
    by_path: dict[str, list[int]] = {}
    for number, (path, _) in enumerate(faults):
        by_path.setdefault(path, []).append(number)
    modules: dict[str, ast.Module] = {}
    asleep: set[int] = set()
    for path, numbers in by_path.items():
        source = (tree / path).read_bytes()
        module = ast.parse(source)
        for number in numbers:
            planted = faults[number][1].planted(source)
            if _switch(module, ast.parse(planted), source, faults[number][1], number):
                asleep.add(number)
        bind(module, "PLANTED")
        modules[path] = module
    compile_into(folder, tree, modules)
    return asleep


def _functions(module: ast.Module) -> Functions:
    """Functions in the order of the text, without those that switches brought in."""
    found: Functions = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and hasattr(node, "switch"):
            for original in node.orelse:
                visit(original)
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(module)
    return found


def _switch(
    module: ast.Module, planted: ast.Module, source: bytes, fault: Fault, number: int
) -> bool:
    """Put the faulty body of the innermost function beside its own; False where there is none."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def begin(node: ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def stop(node: ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.end_lineno - 1] + node.end_col_offset

    mine, other = _functions(ast.parse(source)), _functions(planted)
    inside = [
        i
        for i, function in enumerate(mine)
        if begin(function.body[0]) <= fault.start and fault.end <= stop(function.body[-1])
    ]
    if not inside or len(mine) != len(other):
        return False
    chosen = inside[-1]  # of functions that hold the place the last to begin is the innermost
    function, body = _functions(module)[chosen], other[chosen].body
    # Declarations of names come first, once.
    names = [n for n in function.body if isinstance(n, ast.Global | ast.Nonlocal)]
    doc = function.body[:1] if ast.get_docstring(function) is not None else []
    rest = [n for n in function.body if n not in names and n not in doc]
    faulty = [n for n in body if not isinstance(n, ast.Global | ast.Nonlocal)]
    faulty = faulty[1:] if doc else faulty
    test = ast.parse(f"__planted__[0] == {number}", mode="eval").body
    chosen_if = ast.If(test, faulty or [ast.Pass()], rest)
    chosen_if.switch = number  # type: ignore[attr-defined]
    ast.copy_location(chosen_if, rest[0] if rest else function)
    for node in ast.walk(test):
        ast.copy_location(node, chosen_if)
    function.body = [*doc, *names, chosen_if]
    ast.fix_missing_locations(function)
    return True
