"""What a lesson's page has, block by block, as it stands in a file.

    python -m tests.tools.outlines    write `outlines.txt` anew (`git diff` shows what changed)

People can read how a block begins; the four digits in brackets are a checksum of all it has, but
for times, for the code of machines (which depends on the machine), and for the last bits of
pictures.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gallette.lessons import LESSONS, Page, run_lesson
from gallette.lessons.page import (
    Block,
    Code,
    Control,
    Diff,
    Drawing,
    Pictures,
    Prose,
    Question,
    Table,
    Try,
)

FILE = Path(__file__).with_suffix(".txt")
SLOW = ("is_used_once", "gl_on_vulkan")
"""Lessons without an outline: one takes long, one needs a Vulkan device."""


def short(text: str) -> str:
    """The first words; numbers depend on the machine, some of them, and so does its processor."""
    words = re.sub(r"(?<=machine code for )\S+", "this", " ".join(text.split()))
    words = re.sub(r"\d[\d.,]*", "#", words)
    return words if len(words) <= 60 else words[:60].rsplit(" ", 1)[0] + " ..."


_TIMES = re.compile(r"\b\d+(\.\d+)? ?(s|ms|us)\b")


def mean_colors(picture: np.ndarray) -> str:
    """Of sixteen parts of a picture."""
    rows = [
        part.reshape(-1, picture.shape[-1]).mean(0)
        for row in np.array_split(picture.astype(float), min(4, len(picture)), axis=0)
        for part in np.array_split(row, min(4, picture.shape[1]), axis=1)
    ]
    return str(np.rint(rows).astype(int).tolist())


def whole(block: Block) -> str:
    """All that a block has and that is the same wherever it is made."""
    match block:
        case Prose():
            return re.sub(r"vector of \d+ lanes", "vector of lanes", " ".join(block.text.split()))
        case Code():
            made_here = block.language in ("llvm", "asm") or block.caption.startswith("generated")
            return block.language if made_here else f"{block.caption}\n{block.text}"
        case Diff():
            return f"{block.caption}\n{block.before}\n{block.after}"
        case Table():
            rows = re.sub(r"\b\d+ lines\b", "lines", str(block.rows))  # of machine code, too
            return f"{block.caption}\n{block.columns}\n{rows}"
        case Pictures():
            return str([(caption, mean_colors(picture)) for caption, picture in block.pictures])
        case Drawing():
            words = re.sub(r"\b\d+ lines\b", "lines", block.words)
            return f"{block.caption}\n{words}"
        case Control():
            return f"{block.caption}\n{[name for name, _ in block.states]}"
        case Try():
            return str(block.commands)
        case Question():
            return f"{block.text}\n{block.choices}\n{block.answer}"


def checksum(block: Block) -> str:
    """Four digits."""
    return f"{zlib.crc32(_TIMES.sub('T', whole(block)).encode()) & 0xFFFF:04x}"


def lines(block: Block) -> Iterator[str]:
    """What is told of a block; the states of a control are set in."""
    match block:
        case Prose():
            yield short(block.text)
        case Code():
            yield f"{block.language} {short(block.caption)}"
            yield f"  {'some' if block.text.strip() else 'no'} lines"
        case Diff():
            yield short(block.caption)
            yield f"  {'another' if block.before != block.after else 'the same'} text"
        case Table():
            yield f"{' | '.join(map(short, block.columns))} ({len(block.rows)} rows)"
            yield from ([f"  {short(block.caption)}"] if block.caption else [])
        case Pictures():
            for caption, picture in block.pictures:
                yield f"{short(caption)} {'x'.join(map(str, picture.shape))}"
        case Drawing():
            yield f"{short(block.caption)}: {short(block.words)}"
        case Control():
            yield short(block.caption)
            for name, behind in block.states:
                yield f"  {short(name)}"
                yield from (f"    {line}" for line in outlined(behind))
        case Try():
            for command, what in block.commands:
                yield f"{command}: {short(what)}"
        case Question():
            yield f"{short(block.text)} {short(block.answer)}"


def outlined(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        for number, line in enumerate(lines(block)):
            if number == 0:
                line = f"{block.kind} {line.rstrip()} [{checksum(block)}]"
            yield line if number == 0 else f"  {line}".rstrip()


def outline(page: Page) -> list[str]:
    """The lines of a lesson."""
    return list(outlined(page.blocks))


def written() -> dict[str, list[str]]:
    """The lines of the file, by lesson."""
    found: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            found[line[3:]] = []
        elif not line.startswith("#"):
            found[list(found)[-1]].append(line)
    return found


def main() -> None:
    """Write the file."""
    text = "# Generated by `python -m tests.tools.outlines`: what the page of each lesson has.\n"
    for name, item in LESSONS.items():
        if name not in SLOW:
            page = run_lesson(item, "numpipe")
            text += "\n".join([f"== {name}", *outline(page)]) + "\n"
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
