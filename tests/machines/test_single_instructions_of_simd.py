"""Single instructions of simd, written as assembly and run on registers full of known bytes.

The oracle goes channel by channel over the bytes of one thread at a time: the documentation of a
region (register, offset, stride, type, modifiers) and of what a channel is that does not execute.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.drivers.common.work import Work
from gallette.drivers.machines.simd.isa.instruction import Instruction, Region
from gallette.drivers.machines.simd.isa.table import ISA
from gallette.drivers.machines.simd.simulator.alu import alu_step
from gallette.drivers.machines.simd.simulator.executable import Executable
from gallette.drivers.machines.simulator.executable import ExecutableFacts
from gallette.drivers.machines.simulator.launch import Launch

Array = npt.NDArray[Any]
REGISTERS, THREADS = 24, 3
FLAGS = 4
FORMATS = {"UD": "I", "D": "i", "F": "f", "UW": "H", "W": "h", "HF": "e", "UQ": "Q", "Q": "q",
           "DF": "d", "UB": "B", "B": "b"}  # fmt: skip
FLOATS: dict[str, Any] = {"F": np.float32, "HF": np.float16, "DF": np.float64}
NUMBERS = {
    "int": (0, 1, 2, 3, 100, 127, 128, 255, 1000, 32767, 32768, 65535, 70000, 2**31 - 1, 2**31,
            2**32 - 1, 2**40 + 5, 2**63, 2**64 - 1),
    "float": (0.0, 1.0, -1.0, 0.5, -0.25, 2.75, -2.75, 0.999, 100.0, -129.5, 255.5, 300.0, 5000.0,
              -40000.0),
}  # fmt: skip


class Run:
    """A program that has run: registers and flags before, and after, by thread."""

    def __init__(
        self,
        text: str,
        width: int,
        fill: str = "UD",
        flags: Array | None = None,
        constants: range = range(0),
    ) -> None:
        code = ISA.assemble(text)
        words = [ISA.encode(instr) for instr in code]
        facts = ExecutableFacts(registers=REGISTERS)
        executable = Executable(words, width, constants, facts)
        lanes = SimpleNamespace(count=THREADS * width)
        resources: Any = SimpleNamespace(work=Work(1 << 30))
        given = np.arange(len(constants) * 32, dtype=np.uint8)
        self.launch = Launch(executable, resources, given, lanes)
        root = self.launch.root
        root.words[...] = filled(fill)
        if constants:
            executable.prepare(root.words, given)
        self.flags: Array = np.zeros((FLAGS, width, THREADS), np.bool_)
        for number in range(FLAGS):
            shape = root.flags[number].shape  # half, thread, channel
            bits = np.arange(root.flags[number].size) * (2 * number + 3) // 2 % 3 == 0
            chosen = bits.reshape(shape) if flags is None else flags.reshape(shape)
            root.flags[number][...] = chosen
            self.flags[number] = by_thread(root.flags[number])
        self.before = memory_of(root.words)
        executable.start(self.launch)
        self.after = memory_of(root.words)
        self.flags_after = np.stack([by_thread(flag) for flag in root.flags])


def by_thread(flag: Array) -> Array:
    """`[channel, thread]` of `(half, thread, channel)`."""
    return flag.transpose(0, 2, 1).reshape(-1, THREADS)


def filled(type: str) -> Array:
    """Registers that hold numbers of a type, others in each place, negative ones among them."""
    fmt, numbers = FORMATS[type], NUMBERS["float" if type in FLOATS else "int"]
    size = struct.calcsize(fmt)
    found = np.zeros((REGISTERS, THREADS, 8), np.uint32)
    for thread in range(THREADS):
        count = REGISTERS * 32 // size
        values = [numbers[(k * 5 + k // 7 + thread) % len(numbers)] for k in range(count)]
        if type not in FLOATS:
            bits = size * 8
            signed = fmt.islower()
            values = [v % 2**bits - (signed and v % 2**bits >> bits - 1) * 2**bits for v in values]
        data = struct.pack(f"<{count}{fmt}", *values)
        found[:, thread] = np.frombuffer(data, np.uint32).reshape(REGISTERS, 8)
    return found


def memory_of(words: Array) -> list[bytearray]:
    """The register file of each thread."""
    return [bytearray(words[:, t].tobytes()) for t in range(THREADS)]


def place(region: Region, channel: int) -> int:
    if region.swizzle:
        channel = channel - channel % 4 + region.swizzle[channel % 4]
    at = region.nr * 32 + region.offset
    return at + channel * region.stride * struct.calcsize(FORMATS[region.type.name])


def number(memory: bytes | bytearray, region: Region, channel: int) -> Any:
    """What a channel reads, modifiers applied."""
    fmt = FORMATS[region.type.name]
    if region.file == "i":
        value = struct.unpack(f"<{fmt}", region.bits.to_bytes(struct.calcsize(fmt), "little"))[0]
    else:
        value = struct.unpack_from(f"<{fmt}", memory, place(region, channel))[0]
    if region.abs:
        value = abs(value)
    return -value if region.neg else value


def stored(memory: bytearray, region: Region, channel: int, value: Any) -> None:
    fmt = FORMATS[region.type.name]
    if region.type.name not in FLOATS:
        bits = struct.calcsize(fmt) * 8
        value = int(value) % 2**bits
        fmt = fmt.upper()
    struct.pack_into(f"<{fmt}", memory, place(region, channel), value)


def converted(value: Any, given: str, to: str) -> Any:
    """A number of one type as one of another: truncated and clamped, or rounded."""
    if to in FLOATS:
        kind = FLOATS.get(given, np.int64 if value < 2**63 else np.uint64)
        with np.errstate(over="ignore"):
            return FLOATS[to](kind(value))
    if given not in FLOATS:
        return value
    bits = struct.calcsize(FORMATS[to]) * 8
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if to[0] != "U" else (0, 2**bits - 1)
    return max(low, min(high, int(value)))


def checked(run: Run, instr: Instruction, compute: Callable[..., Any], here: Array) -> None:
    """The channels that are `here` (by channel and thread) have what is computed, nobody else."""
    for thread, before in enumerate(run.before):
        wanted = bytearray(before)
        for channel in range(instr.width):
            if here[channel, thread]:
                given = [number(before, src, channel) for src in instr.srcs]
                stored(wanted, instr.dst, channel, compute(*given))
        assert run.after[thread] == wanted, (thread, instr.key())


def everybody(width: int) -> Array:
    return np.ones((width, THREADS), np.bool_)


REGIONS = [
    (8, 8, "g12<1>", "g4<1>"),
    (16, 16, "g12<1>", "g4<1>"),
    (16, 16, "g12<2>", "g4<1>"),
    (8, 8, "g12<1>", "g4<2>"),
    (8, 8, "g12<4>", "g4.16<1>"),
    (16, 16, "g12.16<1>", "g4.8<0>"),
    (8, 8, "g12.8<2>", "g4<4>"),
    (16, 16, "g12<1>", "g4.16<1>"),
    (8, 1, "g12.24<1>", "g4.16<0>"),
    (16, 1, "g12<1>", "g5.8<1>"),
    (8, 8, "g12<1>", "g7.24<0>"),
]


@pytest.mark.parametrize("given", FORMATS)
@pytest.mark.parametrize("to", FORMATS)
def test_moves_from_any_region_of_any_type(given: str, to: str) -> None:
    for width, some, dst, src in REGIONS:
        mods = " {nomask}" if some == 1 else ""
        line = f"mov({some}){mods} {dst}:{to} {src}:{given}"
        run = Run(line, width, given)
        checked(run, ISA.read_line(line), lambda x: converted(x, given, to), everybody(16))


@pytest.mark.parametrize("type", ["F", "HF", "DF", "D", "W", "Q", "B"])
@pytest.mark.parametrize("src", ["-g4<1>", "|g4<1>|", "-|g4<1>|", "-g4.8<0>", "|g4.8<0>|"])
@pytest.mark.parametrize("width", [8, 16])
def test_sources_are_negated_after_their_absolute_value(type: str, src: str, width: int) -> None:
    region = src.replace(">", f">:{type}") if ">|" not in src else src.replace(">|", f">:{type}|")
    line = f"mov({width}) g12<1>:{type} {region}"
    run = Run(line, width, type)
    checked(run, ISA.read_line(line), lambda x: x, everybody(width))


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("order", ["xxxx", "yxwz", "wzyx", "zwxy", "xyzz", "zzzz"])
def test_swizzles_take_another_channel_of_the_four(width: int, order: str) -> None:
    for line in (
        f"mov({width}) g12<1>:UD g4<1>:UD.{order}",
        f"add({width}) g12<1>:F g4<1>:F.{order} -|g6<1>:F.{order}|",
    ):
        instr = ISA.read_line(line)
        sums = (lambda x: x) if "mov" in line else (lambda a, b: np.float32(a) + np.float32(b))
        checked(Run(line, width, instr.dst.type.name), instr, sums, everybody(width))


@pytest.mark.parametrize("bits", [0x7, 0xFFFFFFF9, 0x80000001])
@pytest.mark.parametrize("type", ["D", "UD"])
def test_immediates_are_numbers_of_their_type(bits: int, type: str) -> None:
    line = f"xor(8) g12<1>:{type} g4<1>:{type} #{bits:#x}:{type}"
    checked(Run(line, 8, type), ISA.read_line(line), operator.xor, everybody(8))


@pytest.mark.parametrize(
    ("neg", "absolute", "wanted"), [(True, False, 2.5), (False, True, 2.5), (True, True, -2.5)]
)
def test_a_step_knows_immediates_with_modifiers(neg: bool, absolute: bool, wanted: float) -> None:
    """Encoded they do not exist; steps are made of decoded instructions alone, but no worse."""
    run = Run("mov(8) g12<1>:F g4<1>:F", 8, "F")
    bits = int.from_bytes(struct.pack("<f", -2.5), "little")
    instr = ISA.read_line(f"mov(8) g13<1>:F #{bits:#x}:F")
    instr.srcs = (instr.srcs[0]._replace(neg=neg, abs=absolute),)
    alu_step(instr, range(0))(run.launch.root)
    assert (run.launch.root.f[13] == np.float32(wanted)).all()


# -- which channels --------------------------------------------------------------------------------

MASKED: dict[str, Callable[..., Any]] = {
    "not(8{group}) g12<1>:UD g4<1>:UD": lambda x: ~x,
    "add(8{group}) g12<1>:UD g4<1>:UD g5<1>:UD": operator.add,
    "mov(8{group}) g12<1>:F g4<1>:UD": lambda x: np.float32(np.uint32(x)),
    "mov(8{group}) g12<1>:D g4<1>:D": lambda x: x,
    "mov(8{group}) g12<2>:UW g4<1>:UW": lambda x: x,
    "shl(8{group}) g12<1>:UD g4<1>:UD #0x3:UD": lambda a, b: a << b,
    "sel(8{group}) {{l:f0}} g12<1>:UD g4<1>:UD g5<1>:UD": min,
    "sel(8{group}) {{ge:f0}} g12<1>:D g4<1>:D g5<1>:D": max,
}


@pytest.mark.parametrize("line", MASKED)
@pytest.mark.parametrize("group", [0, 8])
@pytest.mark.parametrize("inside", [False, True])
def test_only_channels_that_are_here_and_have_the_flag_write(
    line: str, group: int, inside: bool
) -> None:
    compute = MASKED[line]
    body = line.format(group=f"|{group}" if group else "")
    signs = ("",) if body.startswith("sel") else ("", "+", "-")
    for sign in signs:
        for flag in range(FLAGS):
            text = f"({sign}f{flag}) {body}" if sign else body
            program = f"(+f1) if(16) @2\n{text}\nendif(16) @2" if inside else text
            instr = ISA.read_line(text)
            run = Run(program, 16, instr.srcs[0].type.name)
            half = slice(group, group + 8)
            here = run.flags[1][half].copy() if inside else everybody(8)
            if sign:
                here &= run.flags[flag][half] == (sign == "+")
            assert inside or not sign or 0 < here.sum() < here.size
            checked(run, instr, compute, here)


@pytest.mark.parametrize("group", [0, 8])
@pytest.mark.parametrize("sign", "+-")
@pytest.mark.parametrize("inside", [False, True])
def test_a_selection_takes_the_second_without_the_flag(group: int, sign: str, inside: bool) -> None:
    at = f"|{group}" if group else ""
    for flag in range(FLAGS):
        text = f"({sign}f{flag}) sel(8{at}) g12<1>:UD g4<1>:UD g5<1>:UD"
        run = Run(f"(-f1) if(16) @2\n{text}\nendif(16) @2" if inside else text, 16)
        for thread, before in enumerate(run.before):
            wanted = bytearray(before)
            for channel in range(8):
                chosen = bool(run.flags[flag, group + channel, thread]) == (sign == "+")
                nr = 4 if chosen else 5
                if not inside or not run.flags[1, group + channel, thread]:
                    at_byte = nr * 32 + channel * 4
                    begin = 12 * 32 + channel * 4
                    wanted[begin : begin + 4] = before[at_byte : at_byte + 4]
            assert run.after[thread] == wanted


@pytest.mark.parametrize("line", ["mov(8) {nomask} g12<1>:UD g4<1>:UD",
                                  "add(1) {nomask} g12.4<1>:UD g4.8<0>:UD g5.4<0>:UD"])  # fmt: skip
def test_without_a_mask_all_channels_of_a_thread_that_is_here_write(line: str) -> None:
    flags = np.zeros((1, THREADS, 8), np.bool_)
    flags[0, 1, 5] = True  # one channel of one thread
    instr = ISA.read_line(line)
    run = Run(f"(+f0) if(8) @2\n{line}\nendif(8) @2", 8, flags=flags)
    here = np.zeros((8, THREADS), np.bool_)
    here[:, 1] = True
    compute = operator.add if instr.width == 1 else (lambda x: x)
    checked(run, instr, compute, here)


def test_a_scalar_has_no_channel_for_a_mask() -> None:
    with pytest.raises(ValueError, match="a scalar instruction knows no mask: it is nomask"):
        Run("mov(1) g12<1>:UD g4<0>:UD", 8)


# -- constants -------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("type", ["UD", "F", "D", "UW", "UQ", "UB"])
def test_scalars_of_constant_registers(type: str, width: int) -> None:
    """Registers 2 and 3 are constants: before them, within, across their end and behind it."""
    size = struct.calcsize(FORMATS[type])
    for nr in range(1, 6):
        for offset in sorted({0, 8, 32 - size}):
            line = f"mov({width}) g12<1>:{type} g{nr}.{offset}<0>:{type}"
            run = Run(line, width, type, constants=range(2, 4))
            for before in run.before:
                assert before[64:128] == bytes(range(64))
            checked(run, ISA.read_line(line), lambda x: x, everybody(width))


def test_the_first_register_knows_the_thread() -> None:
    run = Run("nop(8)", 8)
    words = np.full((REGISTERS, THREADS, 8), 9, np.uint32)
    run.launch.executable.prepare(words, np.arange(0, dtype=np.uint8))
    assert words[0, :, 0].tolist() == list(range(THREADS))
    words[0, :, 0] = 9
    assert (words == 9).all()


# -- saturation, conditions ------------------------------------------------------------------------


def clamp(x: Any) -> Any:
    return min(max(0, x), 1)


def test_floats_saturate_between_0_and_1() -> None:
    for line, given, compute in (
        ("mov(16) {sat} g12<1>:F g4<1>:F", "F", clamp),
        ("mov(8) {sat} g12<1>:F g4<1>:HF", "HF", clamp),
        ("mov(8) {sat} g12<1>:F g4<1>:D", "D", clamp),
        ("mov(8) {sat} g12<1>:DF g4<1>:F", "F", clamp),
        ("add(8) {sat} g12<1>:F g4<1>:F g5<1>:F", "F",
         lambda a, b: clamp(np.float32(a) + np.float32(b))),
        ("mul(16) {sat} g12<1>:F g4<1>:F -g6<1>:F", "F",
         lambda a, b: clamp(np.float32(a) * np.float32(b))),
    ):  # fmt: skip
        instr = ISA.read_line(line)
        checked(Run(line, instr.width, given), instr, compute, everybody(instr.width))


@pytest.mark.parametrize("type", ["D", "UD"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_sums_of_integers_saturate_at_their_limits(type: str, sign: str) -> None:
    low, high = (-(2**31), 2**31 - 1) if type == "D" else (0, 2**32 - 1)
    line = f"add(16) {{sat}} g12<1>:{type} g4<1>:{type} {sign}g6<1>:{type}"
    run = Run(line, 16, type)
    checked(run, ISA.read_line(line), lambda a, b: max(low, min(high, a + b)), everybody(16))
    for thread in range(THREADS):  # something was clamped
        found = struct.unpack_from(f"<16{FORMATS[type]}", run.after[thread], 12 * 32)
        assert {low, high} & set(found)


CONDITIONS = {
    "z": operator.eq,
    "nz": operator.ne,
    "g": operator.gt,
    "ge": operator.ge,
    "l": operator.lt,
    "le": operator.le,
}


@pytest.mark.parametrize("cond", CONDITIONS)
@pytest.mark.parametrize("type", ["F", "D", "UD", "W", "Q"])
def test_comparisons_set_a_flag_and_a_register(cond: str, type: str) -> None:
    small = type in ("W", "Q")
    for group, flag, inside in ((0, 0, False), (8, 3, False), (0, 1, True), (8, 2, True)):
        at = f"|{group}" if group else ""
        for dst in ("null<1>:D", "g12<1>:D"):
            text = f"cmp(8{at}) {{{cond}:f{flag}}} {dst} g4<1>:{type} g5.0<1>:{type}"
            if small and dst != "null<1>:D":
                continue
            text = text.replace("g5.0", "g4.4" if type == "W" else "g6")
            instr = ISA.read_line(text)
            run = Run(f"(+f0) if(16) @2\n{text}\nendif(16) @2" if inside else text, 16, type)
            wanted = run.flags.copy()
            for thread, before in enumerate(run.before):
                registers = bytearray(before)
                for channel in range(8):
                    if inside and not run.flags[0, group + channel, thread]:
                        continue
                    a, b = (number(before, src, channel) for src in instr.srcs)
                    holds = CONDITIONS[cond](a, b)
                    wanted[flag, group + channel, thread] = holds
                    if instr.dst.file != "n":
                        stored(registers, instr.dst, channel, -int(holds))
                assert run.after[thread] == registers
            assert (run.flags_after == wanted).all()


@pytest.mark.parametrize("cond", CONDITIONS)
def test_arithmetic_may_compare_its_result_with_zero(cond: str) -> None:
    for group, flag, sign in ((0, 0, ""), (8, 3, ""), (8, 1, "+"), (0, 2, "-")):
        at = f"|{group}" if group else ""
        for body, compute in (
            ("add(8{}) {{{}:f{}}} g12<1>:D g4<1>:D -g5<1>:D", operator.sub),
            ("mov(8{}) {{{}:f{}}} g12<1>:D g4<1>:D", lambda a: a),
            ("and(8{}) {{{}:f{}}} g12<1>:D g4<1>:D g5<1>:D", operator.and_),
        ):
            text = body.format(at, cond, flag)
            instr = ISA.read_line(f"({sign}f{flag}) {text}" if sign else text)
            instr.srcs = tuple(src._replace(neg=False) for src in instr.srcs)
            run = Run(f"({sign}f{flag}) {text}" if sign else text, 16, "D")
            here = everybody(8)
            if sign:
                here = run.flags[flag, group : group + 8] == (sign == "+")
            wanted = run.flags.copy()
            for thread, before in enumerate(run.before):
                for channel in range(8):
                    if here[channel, thread]:
                        value = compute(*(number(before, s, channel) for s in instr.srcs))
                        value = (value + 2**31) % 2**32 - 2**31
                        wanted[flag, group + channel, thread] = CONDITIONS[cond](value, 0)
            checked(run, instr, compute, here)
            assert (run.flags_after == wanted).all()


@pytest.mark.parametrize("width", [8, 16])
def test_the_smaller_and_the_larger_of_two_floats(width: int) -> None:
    for cond, choose in (("l", min), ("ge", max)):
        line = f"sel({width}) {{{cond}:f0}} g12<1>:F g4<1>:F g6<1>:F"
        checked(Run(line, width, "F"), ISA.read_line(line), choose, everybody(width))


def test_bits_are_extracted_with_the_sign_of_the_type() -> None:
    def unsigned(value: int, offset: int, bits: int) -> int:
        return value >> offset & (1 << bits) - 1

    def signed(value: int, offset: int, bits: int) -> int:
        found = unsigned(value, offset, bits)
        return found - (found >> bits - 1 << bits) if bits else 0

    for type, compute in (("UD", unsigned), ("D", signed)):
        text = (
            f"and(8) g5<1>:UD g4<1>:UD #0xf:UD\nand(8) g6<1>:UD g5<1>:UD #0x7:UD\n"
            f"bfe(8) g12<1>:{type} g4<1>:{type} g5<1>:{type} g6<1>:{type}"
        )
        run = Run(text, 8, type)
        for memory in run.after:
            row = {
                nr: struct.unpack_from(f"<8{FORMATS[type]}", memory, nr * 32)
                for nr in (4, 5, 6, 12)
            }
            wanted = [compute(*one) for one in zip(row[4], row[5], row[6], strict=True)]
            assert list(row[12]) == wanted
