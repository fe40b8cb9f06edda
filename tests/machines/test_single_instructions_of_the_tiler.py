"""Single instructions of the tiler, written as assembly and run on registers full of known bits.

The oracle goes channel by channel and repetition by repetition, with numbers of Python.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.work import Work
from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.simulator.executable import ExecutableFacts
from gallette.drivers.machines.simulator.launch import Launch
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand
from gallette.drivers.machines.tiler.isa.table import ISA
from gallette.drivers.machines.tiler.simulator.executable import Executable

Array = npt.NDArray[Any]
REGISTERS, WAVES, WIDTH = 24, 2, 64
FORMATS = {"f": "f", "s": "i", "u": "I", "b": "I", "h": "e"}
WORDS = (0, 1, 7, 0x80, 0xFFFF, 0x3F800000, 0xC0200000, 0x3E99999A, 0x40490FDB, 0x7FFFFFFF,
         0x80000000, 0xFFFFFFFF, 0x12345678, 0xC1F6874A, 0x42C80000, 0x00010001)  # fmt: skip
FLOATS = (0.0, 0.25, -0.5, 1.0, -1.5, 2.5, -2.75, 0.875, 3.5, -100.25, 1000.5, 65504.0)
CONSTANTS = tuple(WORDS[(3 * k) % 16] for k in range(16))


class Run:
    """A program that has run: words and predicates before and after."""

    def __init__(self, text: str, floats: bool = False, seed: int = 0) -> None:
        words = [ISA.encode(instr) for instr in ISA.assemble(text)]
        executable = Executable(words, ExecutableFacts(registers=REGISTERS))
        lanes = SimpleNamespace(count=WAVES * WIDTH)
        resources: Any = SimpleNamespace(work=Work(1 << 30))
        given = np.array(CONSTANTS, np.uint32)
        if floats:
            given = np.array([FLOATS[5 * k % 12] for k in range(16)], np.float32).view(np.uint32)
        self.constants: list[int] = given.tolist()
        self.launch = Launch(executable, resources, given.view(np.uint8), lanes)
        root = self.launch.root
        rng = np.random.default_rng(seed)
        numbers = np.array(FLOATS, np.float32).view(np.uint32) if floats else np.array(WORDS)
        root.words[...] = numbers[rng.integers(0, len(numbers), root.words.shape)]
        for flag in root.flags:
            flag[...] = rng.integers(0, 2, flag.shape)
        self.words, self.flags = root.words.copy(), np.stack(root.flags)
        executable.start(self.launch)
        self.words_after, self.flags_after = root.words, np.stack(root.flags)


def number(run: Run, src: Operand, type: str, where: tuple[int, int], k: int) -> Any:
    """A source in repetition `k`, modifiers applied."""
    nr = src.nr + (k if src.rep else 0)
    if src.file == "i":
        bits = src.bits
    elif src.file == "c":
        bits = run.constants[nr]
    elif src.file == "h":
        bits = int(run.words[nr // 2, *where]) >> 16 * (nr % 2) & 0xFFFF
    else:
        bits = int(run.words[nr, *where])
    value = struct.unpack_from(f"<{FORMATS[type]}", struct.pack("<I", bits))[0]
    if src.abs:
        value = abs(value)
    return -value if src.neg else value


def bits_of(value: Any, type: str) -> int:
    if type in "fh":
        return int.from_bytes(struct.pack(f"<{FORMATS[type]}", value), "little")
    return int(value) & 0xFFFFFFFF


def checked(run: Run, instr: Instruction, compute: Callable[..., Any], here: Any = None) -> None:
    """Channels that are `here` have what is computed, and nothing else has changed."""
    op, dst = instr.op, instr.dst
    words, flags = run.words.copy(), run.flags.copy()
    for wave in range(WAVES):
        for channel in range(WIDTH):
            where = wave, channel
            if here is not None and not here[0, wave, channel]:
                continue
            for k in range(instr.repeat + 1):
                given = [number(run, src, op.source, where, k) for src in instr.srcs]
                value = compute(*given)
                if instr.sat:
                    value = min(max(0, value), 1)
                if dst.file == "p":
                    flags[dst.nr, 0, wave, channel] = value
                    continue
                bits = bits_of(value, op.dest)
                if dst.file == "h":
                    shift = 16 * (dst.nr % 2)
                    old = int(words[dst.nr // 2, *where]) & ~(0xFFFF << shift)
                    words[dst.nr // 2, *where] = old | (bits & 0xFFFF) << shift
                else:
                    words[dst.nr + k, *where] = bits
    assert (run.words_after == words).all()
    assert (run.flags_after == flags).all()


def single(x: float) -> Any:
    return np.float32(x)


PLAIN: dict[str, tuple[Callable[..., Any], bool]] = {
    "mov r5.x, r1.y": (lambda x: x, False),
    "mov r5.x, c1.y": (lambda x: x, False),
    "mov r5.x, #0xdeadbeef": (lambda x: x, False),
    "mov hr5.x, hr1.y": (lambda x: x, False),
    "mov hr5.y, hr1.x": (lambda x: x, False),
    "mov hr2.z, r1.x": (lambda x: x & 0xFFFF, False),
    "mov r5.w, hr1.w": (lambda x: x, False),
    "(rpt3)mov r5.x, (r)r1.y": (lambda x: x, False),
    "(rpt2)mov r5.x, (r)c1.y": (lambda x: x, False),
    "(rpt2)mov r5.x, c1.y": (lambda x: x, False),
    "(rpt1)mov r5.x, r1.y": (lambda x: x, False),
    "add.f r5.x, r1.x, r2.x": (lambda a, b: single(a) + single(b), True),
    "add.f r5.x, (neg)r1.x, (abs)r2.x": (lambda a, b: single(a) + single(b), True),
    "add.f r5.x, (neg)(abs)r1.x, r2.x": (lambda a, b: single(a) + single(b), True),
    "(sat)add.f r5.x, r1.x, (neg)r2.x": (lambda a, b: single(a) + single(b), True),
    "(rpt2)mul.f r5.x, (r)r1.x, (r)c0.y": (lambda a, b: single(a) * single(b), True),
    "(rpt2)(sat)mul.f r5.x, (neg)(r)r1.x, c0.y": (lambda a, b: single(a) * single(b), True),
    "min.f r5.x, r1.x, (neg)c2.x": (min, True),
    "max.f r5.x, (abs)r1.x, c2.x": (max, True),
    "absneg.f r5.x, (neg)r1.x": (lambda x: x, True),
    "(sat)absneg.f r5.x, (abs)r1.x": (lambda x: x, True),
    "absneg.s r5.x, (neg)r1.x": (lambda x: x, False),
    "floor.f r5.x, r1.x": (math.floor, True),
    "ceil.f r5.x, r1.x": (lambda x: math.copysign(math.ceil(x), x), True),
    "trunc.f r5.x, r1.x": (lambda x: math.copysign(math.trunc(x), x), True),
    "rndne.f r5.x, r1.x": (lambda x: math.copysign(round(x), x), True),
    "add.u r5.x, r1.x, r2.x": (operator.add, False),
    "add.u r5.x, r1.x, #0x5": (operator.add, False),
    "add.u r5.x, r1.x, #-0x3": (operator.add, False),
    "(rpt3)add.u r5.x, (r)r1.x, (r)r2.x": (operator.add, False),
    "sub.u r5.x, c1.x, r2.x": (operator.sub, False),
    "min.s r5.x, r1.x, r2.x": (min, False),
    "max.s r5.x, r1.x, r2.x": (max, False),
    "min.u r5.x, r1.x, r2.x": (min, False),
    "max.u r5.x, r1.x, r2.x": (max, False),
    "and.b r5.x, r1.x, r2.x": (operator.and_, False),
    "or.b r5.x, r1.x, r2.x": (operator.or_, False),
    "xor.b r5.x, r1.x, r2.x": (operator.xor, False),
    "shl.b r5.x, r1.x, #0x3": (operator.lshift, False),
    "shr.b r5.x, r1.x, #0x5": (operator.rshift, False),
    "ashr.b r5.x, r1.x, #0x5": (operator.rshift, False),
    "not.b r5.x, r1.x": (operator.invert, False),
    "cbits.b r5.x, r1.x": (int.bit_count, False),
    "msb.b r5.x, r1.x": (lambda x: x.bit_length() - 1, False),
    "bfrev.b r5.x, r1.x": (lambda x: int(f"{x:032b}"[::-1], 2), False),
    "mull.u r5.x, r1.x, r2.x": (lambda a, b: (a & 0xFFFF) * (b & 0xFFFF), False),
    "mul.u24 r5.x, r1.x, r2.x": (lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF), False),
    "mul.s24 r5.x, r1.x, r2.x": (lambda a, b: signed24(a) * signed24(b), False),
    "madsh.m16 r5.x, r1.x, r2.x, r3.x": (
        lambda a, b, c: ((a >> 16) * (b & 0xFFFF) << 16) + c, False),
    "mad.u24 r5.x, r1.x, r2.x, r3.x": (
        lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c, False),
    "mad.f r5.x, r1.x, (neg)r2.x, r3.x": (lambda a, b, c: single(a * b + c), True),
    "sel.b r5.x, r1.x, r2.x, r3.x": (lambda a, b, c: a if b else c, False),
    "(rpt1)sel.b r5.x, (r)r1.x, r2.x, (r)c3.x": (lambda a, b, c: a if b else c, False),
    "cov.sf r5.x, r1.x": (lambda x: single(float(x)), False),
    "cov.uf r5.x, r1.x": (lambda x: single(float(x)), False),
    "cov.fs r5.x, r1.x": (int, True),
    "cov.fu r5.x, r1.x": (lambda x: max(int(x), 0), True),
    "cov.fh hr5.x, r1.x": (np.float16, True),
    "cov.fh hr5.y, r1.x": (np.float16, True),
}  # fmt: skip


def signed24(x: int) -> int:
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


@pytest.mark.parametrize("line", PLAIN)
def test_instructions_compute_where_channels_are(line: str) -> None:
    compute, floats = PLAIN[line]
    instr = ISA.read_line(line)
    checked(Run(line, floats), instr, compute)
    for inverse in ("", "!"):  # a branch that some take, around it
        run = Run(f"br {inverse}p0.w, @2\n{line}\nend", floats, seed=1)
        gone = run.flags[3] if not inverse else ~run.flags[3]
        checked(run, instr, compute, ~gone)


def test_halves_become_floats() -> None:
    halves = [f"hr{k // 4}.{'xyzw'[k % 4]}" for k in range(24)]
    places = [4 * (k % 4) + k // 4 % 4 for k in range(24)]  # of a constant for each
    fill = "\n".join(
        f"cov.fh {half}, c{place // 4}.{'xyzw'[place % 4]}"
        for half, place in zip(halves, places, strict=True)
    )
    for k in (0, 1, 6, 23):
        run = Run(f"{fill}\ncov.hf r5.w, {halves[k]}", floats=True)
        (wanted,) = struct.unpack("<f", struct.pack("<I", run.constants[places[k]]))
        assert (run.words_after[23].view(np.float32) == np.float16(wanted)).all()


COMPARES = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
            "eq": operator.eq, "ne": operator.ne}  # fmt: skip


@pytest.mark.parametrize("name", COMPARES)
@pytest.mark.parametrize("type", "fsu")
def test_comparisons_give_predicates_or_ones(name: str, type: str) -> None:
    floats = type == "f"
    sources = ["r1.x, r2.x", "r1.x, c2.x"]
    sources += ["(neg)r1.x, (abs)r2.x"] if floats else ["r1.x, #0x7"]
    for pair in sources:
        for dst in ("p0.x", "p0.y", "p0.w", "r5.x"):
            line = f"cmps.{type}.{name} {dst}, {pair}"
            instr = ISA.read_line(line)
            checked(Run(line, floats), instr, COMPARES[name])
            run = Run(f"br p0.y, @2\n{line}\nend", floats)
            checked(run, instr, COMPARES[name], ~run.flags[1])


@pytest.mark.parametrize(
    ("name", "far", "near"),
    [
        ("dsx", (1, 1, 3, 3), (0, 0, 2, 2)),
        ("dsy", (2, 3, 2, 3), (0, 1, 0, 1)),
        ("dsx.c", (1, 1, 1, 1), (0, 0, 0, 0)),
        ("dsy.c", (2, 2, 2, 2), (0, 0, 0, 0)),
    ],
)
def test_differences_within_a_quad(name: str, far: tuple[int, ...], near: tuple[int, ...]) -> None:
    for line in (f"{name} r5.x, r1.x", f"(rpt1){name} r5.x, (r)r1.x"):
        run = Run(line, floats=True)
        for k in range(ISA.read_line(line).repeat + 1):
            given = run.words.view(np.float32)[4 + k].reshape(-1, 4)
            found = run.words_after.view(np.float32)[20 + k].reshape(-1, 4)
            for quad, answer in zip(given, found, strict=True):
                assert answer.tolist() == [
                    quad[a] - quad[b] for a, b in zip(far, near, strict=True)
                ]


@pytest.mark.parametrize("predicate", ["p0.x", "!p0.x", "p0.y", "!p0.w"])
@pytest.mark.parametrize("inside", [False, True])
def test_pixels_are_killed_where_the_predicate_says(predicate: str, inside: bool) -> None:
    run = Run(f"br p0.x, @2\nkill {predicate}\nend" if inside else f"kill {predicate}")
    gone = run.flags["xyzw".index(predicate[-1])] ^ (predicate[0] == "!")
    if inside:
        gone &= ~run.flags[0]
    wanted = run.flags.copy()
    wanted[LIVE_FLAG] &= ~gone
    assert (run.flags_after == wanted).all()
    assert (wanted != run.flags).any() or (inside and predicate == "p0.x")


def test_quads_without_a_pixel_leave() -> None:
    """`brdead` looks at channels that are here: quads that have left already do not count."""
    marks = "mov r5.x, #0x1\n"
    run = Run(f"br p0.x, @3\nbrdead p0.y, @3\n{marks}end")
    here = ~run.flags[0].reshape(-1, 4)
    busy = (here & run.flags[1].reshape(-1, 4)).any(axis=1)
    assert 0 < busy.sum() < len(busy)
    wanted = np.where(here & busy[:, None], 1, run.words[20].reshape(-1, 4))
    assert (run.words_after[20].reshape(-1, 4) == wanted).all()


def test_a_branch_with_a_predicate_goes_forward() -> None:
    for target in (0, 1):
        with pytest.raises(ValueError, match="a branch with a predicate goes forward"):
            Run(f"nop\nbr p0.x, @{target}\nend")
    Run("nop\nbr p0.x, @2\nend")


def test_all_channels_jump_ahead_and_wait_there() -> None:
    """Those that did not branch jump over what those that did go on to do, and meet them behind."""
    run = Run("br p0.x, @3\nmov r5.x, #0x1\njump @4\nmov r5.x, #0x2\nmov r5.y, #0x3\nend")
    assert (run.words_after[20] == np.where(run.flags[0][0], 2, 1)).all()
    assert (run.words_after[21] == 3).all()
