"""Calls become the code they call."""

from __future__ import annotations

from gallette.compiler.errors import CompileError, GalletteError
from gallette.compiler.nir.ir.copying import Remap, clone_body
from gallette.compiler.nir.ir.instrs import Call, Deref, Intrinsic
from gallette.compiler.nir.ir.questions import by_kind
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.surgery import drop_body, insert_run, splice, split_block
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.vars.opt_deref import propagate_modes, simplify_cast
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("inline_functions")
def inline_functions(shader: Shader, *, max_instrs: int = 250_000) -> bool:
    """Leave one function, `main`, with everything inlined.

    Deref parameters turn into the derefs the caller passed. Needs `lower_returns`; fails on
    recursion, which GLSL forbids, and if the result would exceed `max_instrs` (functions that call
    each other twice, sixty deep, cannot be written out).
    """
    if len(shader.functions) == 1 and not by_kind(shader.entry).calls:
        return False
    order = _callees_first(shader)
    _check_size(order, max_instrs)
    progress = False
    for function in order:
        if function.impl is not None:
            progress |= _inline_into(function.impl)
    dropped = [f for f in shader.functions if not f.is_entry]
    for function in dropped:
        if function.impl is not None:
            drop_body(function.impl.body)
            function.impl.dissolve()
    if dropped:
        shader.functions = [f for f in shader.functions if f.is_entry]
        progress = True
    return progress


def _callees_first(shader: Shader) -> list[Function]:
    """Functions reachable from main, each behind everything it calls."""
    order: list[Function] = []
    state: dict[Function, int] = {}
    stack = [(f, False) for f in shader.functions if f.is_entry]
    while stack:
        function, ready = stack.pop()
        if ready:
            state[function] = 2
            order.append(function)
            continue
        if state.get(function) == 2:
            continue
        if state.get(function) == 1:
            raise GalletteError(f"function {function.name!r} calls itself")
        if function.impl is None:
            raise GalletteError(f"function {function.name!r} is called but not defined")
        state[function] = 1
        stack.append((function, True))
        for call in by_kind(function.impl).calls:
            if state.get(call.callee) != 2:
                if state.get(call.callee) == 1:
                    raise GalletteError(f"function {call.callee.name!r} calls itself")
                stack.append((call.callee, False))
    return order


def _check_size(order: list[Function], limit: int) -> None:
    """Work out how long each function gets, before it does."""
    sizes: dict[Function, int] = {}
    for function in order:
        assert function.impl is not None
        calls = by_kind(function.impl).calls
        size = function.impl.count_instrs() + sum(sizes[call.callee] - 1 for call in calls)
        sizes[function] = size
        if size > limit:
            raise CompileError(
                f"function {function.name!r} is too long when the functions it calls are "
                f"inlined: {size} instructions, at most {limit} are supported"
            )


def _inline_into(impl: FunctionImpl) -> bool:
    calls = by_kind(impl).calls
    # From the last to the first: what is behind a call, and moves, then ends at the next one.
    added = [_inline_call(call) for call in reversed(calls)]
    for variables in reversed(added):
        impl.locals += variables
    if calls:
        impl.invalidate()
    return bool(calls)


def _inline_call(call: Call) -> list[Variable]:
    """Put a call's code in its place; answers the locals that come with it."""
    callee = call.callee.impl
    assert callee is not None
    block = call.block
    assert block is not None
    remap = Remap()
    variables = [remap.variable(var) for var in callee.locals]
    body = clone_body(callee.body, block.parent, remap)
    remap.finish_phis()
    params = [src.value for src in call.srcs]
    casts: list[Deref] = []
    for copied in remap.blocks.values():
        for instr in copied.instrs():
            if isinstance(instr, Intrinsic) and instr.info.name == "load_param":
                instr.replace_by(params[instr["param"]])
            elif isinstance(instr, Deref) and instr.form == "cast":
                casts.append(instr)
    if len(body) == 1:
        insert_run(call, body[0])  # type: ignore[arg-type]
        call.remove()
    else:
        tail = split_block(block, call)
        call.remove()
        splice(block, body, tail)
    for cast in casts:
        replaced = simplify_cast(cast)
        if replaced is not None:
            propagate_modes(replaced)
    return variables
