"""`check`: from a syntax tree to a checked tree, with the rules that need the whole shader."""

from __future__ import annotations

from gallette.compiler.glsl.availability import COMPUTE
from gallette.compiler.glsl.check import access, calls, expressions, hir, lvalues, statements
from gallette.compiler.glsl.check.blocks import block_declaration
from gallette.compiler.glsl.check.call_graph import find_recursion
from gallette.compiler.glsl.check.context import Checker, Folding
from gallette.compiler.glsl.check.functions import function_decl
from gallette.compiler.glsl.check.types import precision_statement
from gallette.compiler.glsl.check.variables import declare
from gallette.compiler.glsl.check.write_only import check_write_only
from gallette.compiler.glsl.diagnostics import Abort, Log, TooManyErrors
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.laxities import grant
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.link.limits import Limits

RULES = (access, calls, expressions, lvalues, statements)
"""modules that register the rules of their nodes on import"""


def check_unit(c: Checker, unit: s.Unit) -> None:
    for node in unit.body:
        c.function = None
        del c.scopes[1:], c.precisions[1:]
        try:
            top_level(c, node)
        except TooManyErrors:
            raise
        except Abort:
            continue
    found = find_recursion(c.shader.functions)
    if found is not None:
        function, loc, end = found
        c.log.error(f"function '{function.name}' calls itself", loc, end, "GLSL has no recursion")
    finish_unit(c)


def top_level(c: Checker, node: s.Stmt) -> None:
    if isinstance(node, s.Declaration):
        declare(c, node)
    elif isinstance(node, s.FunctionDecl):
        function_decl(c, node)
    elif isinstance(node, s.BlockDecl):
        block_declaration(c, node)
    else:
        assert isinstance(node, s.Precision)  # nothing else is allowed outside of functions
        precision_statement(c, node)


def finish_unit(c: Checker) -> None:
    """Rules that need the whole shader."""
    if c.stage == "compute":
        c.need(COMPUTE, "the compute stage", s.Node(0, 0))
    if c.shader.builtins:
        check_exclusive_outputs(c)
    if c.lang.es:
        check_es_outputs(c)
    check_write_only(c)


def check_exclusive_outputs(c: Checker) -> None:
    """Check built-in outputs of which only one may be written."""
    written = {n for n, v in c.shader.builtins.items() if v.written}
    if c.stage == "fragment":
        user = [v for v in c.shader.globals if v.quals.storage == "out" and v.written]
        if {"gl_FragColor", "gl_FragData"} <= written:
            var = c.shader.builtins["gl_FragData"]
            c.log.error("gl_FragColor and gl_FragData cannot both be written", var.loc)
        for name in ("gl_FragColor", "gl_FragData"):
            if name in written and user and not c.lang.has("EXT_blend_func_extended"):
                c.log.error(
                    f"{name} and user-defined output '{user[0].name}' cannot both be written",
                    user[0].loc,
                    user[0].end,
                )


def check_es_outputs(c: Checker) -> None:
    outputs = [v for v in c.shader.globals if v.quals.storage == "out" and c.stage == "fragment"]
    missing = [v for v in outputs if "location" not in v.quals.layout]
    if len(outputs) > 1 and missing and not c.lang.has("EXT_blend_func_extended"):
        message = f"output '{missing[0].name}' needs a location: there are several outputs"
        grant("several outputs", c.lang, c.log, message, missing[0].loc, missing[0].end)


def check(unit: s.Unit, lang: Language, limits: Limits, log: Log, folding: Folding) -> hir.Shader:
    """Check a whole shader; the result is meaningful only if `log` has no errors."""
    c = Checker(lang, limits, log, folding)
    check_unit(c, unit)
    return c.shader
