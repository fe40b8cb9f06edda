"""The function that shades tiles for triangles of several states, each by its own tile function.

In every tile, triangles come in drawing order. Those that follow one another and have the same
owner are one call of its tile function (`tile_emit`), which is made to believe that there is no
other tile and no other triangle: its block of words says so.
"""

from __future__ import annotations

from ..llvm.text import Builder
from ..llvm.values import V
from .layout import MixWords, TileWords, Words

__all__ = ["mixing_text"]


def mixing_text() -> str:
    """The module with `mixed`."""
    b = Builder()
    (ctx,) = b.begin("mixed", [("ptr", "ctx")])
    tiles = b.load_at(ctx, MixWords.TILES, "i64").to("i32")
    following, starts, items, owners, blocks, functions, scratch = (
        b.load_at(ctx, word, "ptr")
        for word in (
            MixWords.NEXT,
            MixWords.STARTS,
            MixWords.ITEMS,
            MixWords.OWNERS,
            MixWords.BLOCKS,
            MixWords.FUNCTIONS,
            MixWords.SCRATCH,
        )
    )
    stop = b.block()
    at, end = b.var("i32", 0, 0), b.var("i32", 0, 0)
    with b.forever() as done:
        tile = b.emit("i32", 0, f"atomicrmw add ptr {following.n}, i32 1 monotonic")
        go = b.block()
        b.branch(tile < tiles, go, done)
        b.place(go)
        wide = tile.to("i64")
        before = b.select(tile.eq(0), b.const("i64", 0), wide - 1)
        at.set(b.select(tile.eq(0), b.const("i32", 0), b.load_at(starts, before, "i32")))
        last = b.load_at(starts, wide, "i32")
        with b.forever() as over:
            first = at.get()
            some = b.block()
            b.branch(first < last, some, over)
            b.place(some)
            owner = _owner(b, owners, items, first)
            end.set(first + 1)
            with b.forever() as found:
                more, look = b.block(), b.block()
                b.branch(end.get() < last, look, found)
                b.place(look)
                b.branch(_owner(b, owners, items, end.get()).eq(owner), more, found)
                b.place(more)
                end.set(end.get() + 1)
            block = b.load_at(blocks, owner.to("i64"), "ptr")
            function = b.load_at(functions, owner.to("i64"), "ptr")
            # One tile, of that number, and its triangles are all that there are.
            b.store(b.at(scratch, 0, "i32"), b.const("i32", 0))
            b.store(b.at(scratch, 1, "i32"), end.get() - first)
            b.store(b.at(scratch, 2, "i32"), tile)
            counts = b.at(scratch, 1 - wide, "i32")
            list_ = b.at(items, first.to("i64"), "i32")
            for word, address in (
                (TileWords.STARTS, counts),
                (TileWords.ITEMS, list_),
                (TileWords.NEXT, b.at(scratch, 2, "i32")),
            ):
                b.store(b.at(block, word, "i64"), address, 8)
            b.store(b.at(block, TileWords.TILES, "i64"), wide + 1)
            b.line(f"call void {function.n}(ptr {block.n})")
            ended = b.load_at(block, Words.STATUS, "i64").ne(0)
            go_on = b.block()
            b.branch(ended, stop, go_on)
            b.place(go_on)
            at.set(end.get())
    b.place(stop)
    b.end()
    return b.text()


def _owner(b: Builder, owners: V, items: V, at: V) -> V:
    """Whose the triangle at a place of the list is."""
    return b.load_at(owners, b.load_at(items, at.to("i64"), "i32").to("i64"), "i32")
