"""Calls are replaced by the code of their functions."""

from __future__ import annotations

from collections import Counter

from gallette.compiler.errors import CompileError, GalletteError
from gallette.compiler.nir.ir.cf import Block, Body, Parent, blocks_in, nested_blocks
from gallette.compiler.nir.ir.cf_editing import drop_body, insert_run, splice, split_block
from gallette.compiler.nir.ir.copying import Remap, clone_body
from gallette.compiler.nir.ir.instrs import Call, Deref, Intrinsic
from gallette.compiler.nir.ir.queries import calls_of
from gallette.compiler.nir.ir.shader import Function, FunctionImpl, Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.passes.vars.opt_deref import propagate_modes, simplify_cast
from gallette.compiler.nir.run.pass_runner import nir_pass
from gallette.compiler.work_limits import MOST_INSTRUCTIONS, check_nesting


@nir_pass("inline_functions")
def inline_functions(shader: Shader, *, max_instrs: int = MOST_INSTRUCTIONS) -> bool:
    """Leave one function, `main`, with everything inlined.

    Deref parameters are replaced by the caller's derefs. Needs `lower_returns`; fails on recursion,
    which GLSL forbids, if the result would exceed `max_instrs` (functions that call each other
    twice, sixty deep, cannot be expanded), and if it would be nested too deeply.

    The code of a function with a single call is moved, so that a long chain of functions, each of
    which calls the next, takes linear time.
    """
    if len(shader.functions) == 1 and not calls_of(shader.entry):
        return False
    order = _callees_first(shader)
    uses = _check_size(order, max_instrs)
    progress = False
    for function in order:
        if function.impl is not None and (function.is_entry or uses[function] > 1):
            progress |= _inline_into(function.impl, uses)
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
    """Functions reachable from main, each after everything it calls."""
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
        for call in calls_of(function.impl):
            if state.get(call.callee) != 2:
                if state.get(call.callee) == 1:
                    raise GalletteError(f"function {call.callee.name!r} calls itself")
                stack.append((call.callee, False))
    return order


def _check_size(order: list[Function], limit: int) -> Counter[Function]:
    """Check in advance how long and how deeply nested each function becomes; returns the number of
    calls of each.
    """
    sizes: dict[Function, int] = {}
    depths: dict[Function, tuple[int, int]] = {}
    uses: Counter[Function] = Counter()
    for function in order:
        assert function.impl is not None
        size = most = most_loops = 0
        for block, depth, loops in nested_blocks(function.impl.body):
            most, most_loops = max(most, depth), max(most_loops, loops)
            for instr in block.instrs():
                if isinstance(instr, Call):
                    size += sizes[instr.callee]
                    inner, inner_loops = depths[instr.callee]
                    most = max(most, depth + inner)
                    most_loops = max(most_loops, loops + inner_loops)
                    uses[instr.callee] += 1
                else:
                    size += 1
        sizes[function], depths[function] = size, (most, most_loops)
        if size > limit:
            raise CompileError(
                f"function {function.name!r} is too long when the functions it calls are "
                f"inlined: {size} instructions, at most {limit} are supported"
            )
        check_nesting(function.name, most, most_loops)
    return uses


def _calls_in(body: Body) -> list[Call]:
    return [i for block in blocks_in(body) for i in block.instrs() if isinstance(i, Call)]


def _inline_into(impl: FunctionImpl, uses: Counter[Function]) -> bool:
    """Inline all calls of a function; moved functions bring their own calls."""
    calls = _calls_in(impl.body)
    if not calls:
        return False
    locals_of: dict[Call, list[Variable]] = {}
    calls_of: dict[Call, list[Call]] = {}
    # From the last to the first, so that moved code after a call ends at the next one.
    waiting = list(calls)
    while waiting:
        call = waiting.pop()
        once = uses[call.callee] == 1
        calls_of[call] = _calls_in(call.callee.impl.body) if once and call.callee.impl else []
        locals_of[call] = _inline_call(call, once)
        waiting += calls_of[call]
    waiting = calls[::-1]
    while waiting:
        call = waiting.pop()
        impl.locals += locals_of[call]
        waiting += reversed(calls_of[call])
    impl.invalidate()
    return True


def _inline_call(call: Call, once: bool) -> list[Variable]:
    """Replace a call by the function's code; returns the locals that come with it.

    `once`: this is the only call, so the code itself is moved instead of a copy.
    """
    callee = call.callee.impl
    assert callee is not None
    block = call.block
    assert block is not None
    if once:
        variables, body = callee.locals, _taken(callee, block.parent)
    else:
        remap = Remap()
        variables = [remap.variable(var) for var in callee.locals]
        body = clone_body(callee.body, block.parent, remap)
        remap.finish_phis()
    params = [src.value for src in call.srcs]
    casts: list[Deref] = []
    for copied in list(blocks_in(body)):
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


def _taken(impl: FunctionImpl, parent: Parent) -> Body:
    """Move the code of a function to another parent, leaving none."""
    body, impl.body = impl.body, []
    impl.body.append(Block(impl, impl.body))
    for node in body:
        node.parent = parent
    impl.locals = []
    return body
