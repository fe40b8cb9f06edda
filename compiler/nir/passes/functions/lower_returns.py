"""`return` becomes structured control flow."""

from __future__ import annotations

from gallette.compiler.errors import CompileError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import Block, Body, If, Loop
from gallette.compiler.nir.ir.cf_editing import drop_body, insert_node_at, splice
from gallette.compiler.nir.ir.instrs import Jump
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import contains_jump, is_phi_of_same
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.types import BOOL
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass
from gallette.compiler.work_limits import MOST_NESTED


@lazy_dataclass()
class _State:
    impl: FunctionImpl
    flag: Variable


def _returns(jump: Jump) -> bool:
    return jump.type == "return"


@nir_pass("lower_returns")
def lower_returns(shader: Shader) -> bool:
    """Leave functions only at their end, so that they can be inlined and flattened.

    Code after an `if` that returns moves into the other branch; a return inside a loop sets a flag
    and breaks, and code after the loop runs only if the flag is not set. Runs before variables
    become SSA values.
    """
    progress = False
    for impl in shader.impls():
        if contains_jump(impl.body, _returns):
            _lower(impl)
            progress = True
    return progress


def _lower(impl: FunctionImpl) -> None:
    last = impl.last.jump
    if last is not None and _returns(last):
        last.remove()
    impl.invalidate()
    if not contains_jump(impl.body, _returns):
        return
    flag = Variable("return_flag", BOOL, Mode.FUNCTION_TEMP)
    impl.locals.append(flag)
    b = Builder(impl).at_start(impl.first)
    b.store_var(flag, b.imm_bool(False))
    state = _State(impl, flag)
    work = [(impl.body, False, 0)]
    while work:
        body, in_loop, depth = work.pop()
        if depth > MOST_NESTED:
            raise CompileError(
                f"function {impl.function.name!r} returns early too often: what follows a return "
                f"is nested in an else, at most {MOST_NESTED} deep"
            )
        inner = _lower_body(body, in_loop, state)
        work += [(body, in_loop, depth + 1) for body, in_loop in inner]


def _lower_body(body: Body, in_loop: bool, state: _State) -> list[tuple[Body, bool]]:
    """Process one body; returns nested bodies, including moved ones, to be processed next."""
    work = []
    i = 0
    while i < len(body):
        node = body[i]
        i += 1
        if isinstance(node, Block):
            jump = node.jump
            if jump is not None and _returns(jump):
                _return_here(node, jump, in_loop, state)
        elif isinstance(node, Loop):
            if contains_jump(node.body, _returns):
                work.append((node.body, True))
                _guard(body, i, in_loop, state)
        elif contains_jump(node.then_body, _returns) or contains_jump(node.else_body, _returns):
            if not in_loop:
                _after_if(body, i, node, state)
            work.append((node.then_body, in_loop))
            work.append((node.else_body, in_loop))
    return work


def _return_here(block: Block, jump: Jump, in_loop: bool, state: _State) -> None:
    jump.remove()
    b = Builder(state.impl).at_end(block)
    b.store_var(state.flag, b.imm_bool(True))
    if in_loop:
        b.jump("break")


def _ends_in_return(body: Body) -> bool:
    last = body[-1]
    return isinstance(last, Block) and last.jump is not None and _returns(last.jump)


def _after_if(body: Body, i: int, node: If, state: _State) -> None:
    """Move code after an if that may return (outside loops)."""
    follower = body[i]
    assert isinstance(follower, Block)
    for phi in list(follower.phis()):
        same = is_phi_of_same(phi)
        if same is not None:
            phi.replace_by(same)
    if follower.last is None and len(body) == i + 1:
        return
    then_ends, else_ends = _ends_in_return(node.then_body), _ends_in_return(node.else_body)
    if (then_ends or else_ends) and not next(follower.phis(), None):
        rest = body[i:]
        del body[i:]
        body.append(Block(node.parent, body))
        if then_ends and else_ends:
            drop_body(rest)
            return
        splice(node.else_last if then_ends else node.then_last, rest, None)
        return
    _guard(body, i, False, state)


def _guard(body: Body, i: int, in_loop: bool, state: _State) -> None:
    """Guard the following code by the flag that the function has not returned."""
    follower = body[i]
    assert isinstance(follower, Block)
    if not in_loop and len(body) == i + 1 and follower.last is follower.last_phi:
        return
    b = Builder(state.impl).at_start(follower)
    returned = b.load_var(state.flag)
    after = b.after
    if in_loop:
        b.push_if(returned)
        b.jump("break")
        b.pop_if()
        return
    node: If = insert_node_at(follower, after, If, returned)
    at = body.index(node)
    rest = body[at + 1 :]
    del body[at + 1 :]
    body.append(Block(node.parent, body))
    splice(node.else_last, rest, None)
