"""Reachable code of a stage: functions called from main or from initialisers, and the globals they
use.

Initialisers of globals run before main, in order. One without effects on a variable that is not
read may be dropped, and what only it uses is not active; any other counts like code of main.
"""

from __future__ import annotations

from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.check.context import constant_value
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.link.log import LinkLog

_EFFECTS = (hir.Assign, hir.Step, hir.Call, hir.SubroutineCall)


def reach(unit: StageUnit, log: LinkLog) -> None:
    """Set `reachable`, `live`, `uses` and `startup` of a joined stage."""
    assert unit.main is not None
    seen: dict[hir.Function, None] = {}
    _call(unit, unit.main, seen, log)
    for function in unit.functions.values():
        if function.subroutine_types:
            _call(unit, function, seen, log)
    if unit.initialized:
        _run_initializers(unit, seen, log)
    unit.reachable = list(seen)


def _run_initializers(unit: StageUnit, seen: dict[hir.Function, None], log: LinkLog) -> None:
    """Reach the code of initialisers that run before main."""
    waiting = [v for v in unit.initialized if v.quals.storage != "uniform"]
    running: set[hir.Variable] = set()
    progress = True
    while progress:
        progress = False
        for var in waiting:
            if var in running or var.init is None:
                continue
            constant = constant_value(var.init) is not None
            inner = [] if constant else list(hir.walk(var.init))
            if unit.resolve(var) in unit.live or any(isinstance(x, _EFFECTS) for x in inner):
                running.add(var)
                progress = True
                _initialize(unit, inner, seen, log)
    unit.startup = [v for v in waiting if v in running]


def _call(
    unit: StageUnit, start: hir.Function, seen: dict[hir.Function, None], log: LinkLog
) -> None:
    """Reach a function, with all it calls and uses."""
    stack = [start]
    program_s = unit.canonical.get
    while stack:
        function = stack.pop()
        if function in seen:
            continue
        seen[function] = None
        unit.uses |= function.uses
        unit.live.update([program_s(var, var) for var in function.globals])
        for callee, _, _ in function.calls:
            body = unit.functions.get(callee.key)
            if body is None:
                log.error(f"function '{callee}' is called but not defined")
            else:
                if body.result is not callee.result:
                    log.error(f"function '{callee}' is defined with another return type")
                stack.append(body)


def _initialize(
    unit: StageUnit, inner: list[hir.Expr], seen: dict[hir.Function, None], log: LinkLog
) -> None:
    """Reach an initialiser."""
    for e in inner:
        if isinstance(e, hir.VarRef):
            var = unit.resolve(e.var)
            if var.kind == "global":
                unit.live.add(var)
        elif isinstance(e, hir.BuiltinCall):
            unit.uses.add(e.name)
        elif isinstance(e, hir.Call):
            body = unit.functions.get(e.function.key)
            if body is None:
                log.error(f"function '{e.function}' is called but not defined")
            else:
                _call(unit, body, seen, log)
