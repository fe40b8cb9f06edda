"""Executes a command list (see `drivers.jit.command_lists`): calls `draw` for each of its draws.

A command holds everything in which repeated draws differ: constants, the first vertex, and the
prepared block. If a draw needs Python to complete, or exceeds its budget, the run ends with it and
returns the reason.
"""

from __future__ import annotations

from typing import Final

from ..llvm.text import Builder
from ..llvm.values import V
from .layout import CommandWords, DrawWords, ListWords, MoveWords
from .plan_code import DONE

COSTLY: Final = 5
"""How a command ended that was done, but whose fragments are to be paid for (see `plan_code`)."""


def command_list_text() -> str:
    """The module with `run`."""
    b = Builder()
    (ctx,) = b.begin("run", [("ptr", "ctx")])
    commands, counters, constants = (
        b.load_at(ctx, word, "ptr")
        for word in (ListWords.COMMANDS, ListWords.COUNTERS, ListWords.CONSTANTS)
    )
    most, leave = b.load_at(ctx, ListWords.MOST, "i64"), b.block()

    def end(number: V, state: V) -> None:
        b.store(b.at(ctx, ListWords.DONE, "i64"), number)
        b.store(b.at(ctx, ListWords.STATE, "i64"), state)

    with b.loop(b.const("i64", 0), b.load_at(ctx, ListWords.COUNT, "i64")) as i:
        command = b.at(commands, i * CommandWords.SIZE, "i64")
        block, source, call = (
            b.load_at(command, word, "ptr")
            for word in (CommandWords.BLOCK, CommandWords.SOURCE, CommandWords.CALL)
        )
        size = b.load_at(command, CommandWords.BYTES, "i64")
        drawn = b.load_at(command, CommandWords.CALL, "i64").ne(0)
        b.copy(b.select(drawn, constants, block), source, size)
        with b.when(drawn):
            start, instance = (
                b.load_at(command, word, "i64")
                for word in (CommandWords.START, CommandWords.INSTANCE)
            )
            _move(b, block, start, instance)
            stream = b.load_at(command, CommandWords.STREAM, "i64")
            b.store(b.at(block, DrawWords.STREAM, "i64"), stream)
            b.line(f"call void {call.n}(ptr {block.n})")
            state = b.load_at(block, DrawWords.STATE, "i64")
            with b.when(state.ne(DONE)):
                end(i, state)
                b.jump(leave)
                b.reopen()
            with b.when(b.load_at(counters, 1, "i64") > most):
                end(i, b.const("i64", COSTLY))
                b.jump(leave)
                b.reopen()
    end(b.load_at(ctx, ListWords.COUNT, "i64"), b.const("i64", DONE))
    b.place(leave)
    b.end()
    return b.text()


def _move(b: Builder, block: V, start: V, instance: V) -> None:
    """Move the columns of a draw to that first vertex and instance, unless they are there
    already.
    """
    old_start, old_instance = (
        b.load_at(block, word, "i64") for word in (DrawWords.START, DrawWords.INSTANCE)
    )
    with b.when(old_start.ne(start) | old_instance.ne(instance)):
        b.store(b.at(block, DrawWords.START, "i64"), start)
        b.store(b.at(block, DrawWords.INSTANCE, "i64"), instance)
        moves = b.load_at(block, DrawWords.MOVES, "ptr")
        with b.loop(b.const("i64", 0), b.load_at(block, DrawWords.MOVE_COUNT, "i64")) as k:
            move = b.at(moves, k * MoveWords.SIZE, "i64")
            first, limit = (
                b.load_at(move, word, "ptr") for word in (MoveWords.FIRST, MoveWords.LIMIT)
            )
            base, stride, rows = (
                b.load_at(move, word, "i64")
                for word in (MoveWords.BASE, MoveWords.STRIDE, MoveWords.ROWS)
            )
            by_instance = b.load_at(move, MoveWords.BY_INSTANCE, "i64").ne(0)
            row = b.select(by_instance, instance, start)
            b.store(first, base + stride * row)
            b.store(limit, rows - row)
