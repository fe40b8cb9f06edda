"""The text form: what the printer writes is read back, what is malformed is refused precisely."""

from __future__ import annotations

import re
import zlib
from dataclasses import MISSING, fields
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import InputError, ValidationError
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.modes import Access, Mode, Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.text import serialize as module
from gallette.compiler.nir.text.lexer import Tokens
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.nir.text.serialize import FORMAT_VERSION, deserialize, serialize
from tests.cases import Case, each

HEAD = 'shader fragment "t"\nimpl main {\n'


def everything() -> Shader:
    """A shader with at least one of each thing the text can express."""
    b = Builder.shader_main(Stage.FRAGMENT, 'odd "name"\n')
    s = b.shader
    s.info.num_ubos = 2
    s.info.depth_layout = "any"
    s.info.inputs_read = {3, 1}
    s.info.workgroup_size = (8, 4, 1)
    light = t.struct("Light", [t.Field("color", t.VEC3), t.Field("power", t.FLOAT)])
    laid_out = t.interface(
        "Block",
        [
            t.Field("m", t.mat(t.Base.FLOAT, 4, 3, 16, True), offset=0, row_major=True),
            t.Field("a", t.array(t.VEC4, 3, 16), offset=64),
            t.Field("tail", t.array(t.UINT, 0, 4), offset=112),
        ],
        "std430",
    )
    s.add_variable("in color", t.VEC4, Mode.SHADER_IN, location=VaryingSlot.VAR0)
    s.add_variable("out", t.VEC4, Mode.SHADER_OUT, location=FragResult.DATA0, invariant=True)
    s.add_variable("block", laid_out, Mode.SSBO, interface=laid_out, access=Access.COHERENT)
    lights = s.add_variable("lights", t.array(light, 4), Mode.UNIFORM, offset=64)
    shadow = s.add_variable(
        "map", t.sampler(t.Dim.D2, shadow=True, is_array=True), Mode.UNIFORM, binding=3
    )
    local = b.impl.add_local("x", t.array(t.array(t.FLOAT, 2), 3))
    b.impl.add_local("x", t.FLOAT).constant_initializer = (0x3F800000,)
    x = b.load_var(s.variables[0])
    i = b.imm_int(1)
    b.store_deref(b.deref_array(b.deref_array_imm(b.deref_var(local), 2), i), b.channel(x, 3))
    power = b.load_deref(b.deref_struct(b.deref_array(b.deref_var(lights), i), 1))
    map_deref = b.deref_var(shadow).result
    texel = b.tex(
        "tex",
        [
            ("coord", b.swizzle(x, "xyz")),
            ("comparator", power),
            ("texture_deref", map_deref),
            ("sampler_deref", map_deref),
        ],
        t.Dim.D2,
        is_array=True,
        is_shadow=True,
        num_components=1,
    )
    b.exact = True
    sum_ = b.fadd(x, texel)
    b.exact = False
    before = b.block
    b.push_loop()
    head = b.block
    counter = b.phi([(before, i)])
    done = b.ige(counter, b.imm_int(4))
    b.push_if(done)
    b.jump("break")
    b.push_else()
    b.pop_if()
    step = b.iadd(counter, i)
    counter.instr.add_phi_src(b.block, step)  # type: ignore[attr-defined]
    assert head.first is counter.instr
    b.pop_loop()
    b.store_var(s.variables[1], sum_, 0b1011)
    b.intrinsic("discard_if", [b.imm_bool(True)])
    wide = b.const([2**63, 5], 64)
    b.vec([b.channel(wide, 0), b.channel(wide, 1)])
    b.alu("vec8", *[power] * 8)
    return s


def test_everything_the_printer_writes_is_read_back() -> None:
    shader = everything()
    text = print_shader(shader)
    assert print_shader(parse(text)) == text


def test_variables_and_functions_of_one_name_keep_it() -> None:
    """They are numbered where they are printed; a number nobody gave belongs to the name."""
    b = Builder.shader_main(Stage.FRAGMENT, "t")
    names = ["x", "x", "y#1", "x", "x#1", "x#2", "y", "y", "#1"]
    for name in names:
        b.shader.add_variable(name, t.FLOAT, Mode.SHADER_TEMP)
    overloads = ["f", "g#1", "f", "f", "g", "g"]
    for name in overloads:
        b.shader.add_function(name)
    text = print_shader(b.shader)
    copy = parse(text)
    assert print_shader(copy) == text
    assert [function.name for function in copy.functions] == ["main", *overloads]
    assert [var.name for var in copy.variables] == names


def test_serialised_shaders_come_back_equal() -> None:
    shader = everything()
    copy = deserialize(serialize(shader))
    assert print_shader(copy) == print_shader(shader)
    assert copy.refcount == 1


@pytest.mark.parametrize("cut", [0, 3, 9, 10, 40, -1])
def test_damaged_bytes_are_refused(cut: int) -> None:
    data = serialize(everything())
    with pytest.raises(InputError):
        deserialize(data[:cut])


def test_damage_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(body: bytes, version: int = FORMAT_VERSION, magic: bytes = b"GNIR") -> bytes:
        numbers = version.to_bytes(2, "little") + zlib.crc32(body).to_bytes(4, "little")
        return magic + numbers + body

    whole = serialize(everything())
    assert made(whole[10:]) == whole
    other = FORMAT_VERSION + 1
    wrong = made(whole[10:-1] + bytes([whole[-1] ^ 1]))[:10] + whole[10:]
    for data, message in (
        (
            made(whole[10:], other),
            f"serialised shader of version {other}, expected {FORMAT_VERSION}",
        ),
        (made(whole[10:], magic=b"GNIS"), "not a serialised shader"),
        (made(b""), "not a serialised shader"),
        (made(b"nonsense"), "damaged serialised shader: Error -3"),
        (made(whole[10:-6]), "damaged serialised shader: it is incomplete or far too large"),
        (wrong, "damaged serialised shader: the check sum is wrong"),
    ):
        with pytest.raises(InputError) as caught:
            deserialize(data)
        assert str(caught.value).startswith(message)
    monkeypatch.setattr(module, "_MAX_TEXT", 100)
    with pytest.raises(InputError, match="incomplete or far too large"):
        deserialize(whole)


def test_flipped_bits_are_refused() -> None:
    data = bytearray(serialize(everything()))
    for at in range(0, len(data), 7):
        data[at] ^= 0x10
        with pytest.raises(InputError):
            deserialize(bytes(data))
        data[at] ^= 0x10


def test_people_may_leave_out_what_is_obvious() -> None:
    shader = parse(
        HEAD
        + """
        32x2 %a = load_const (1.0, -2)   // mixed, as one likes
        32x2 %b = fmul %a, %a.yx
        1 %c = load_const (true)
        if %c { 32 %d = mov %a.x }
    }"""
    )
    assert shader.entry_function.name == "main"
    assert print_shader(parse(print_shader(shader))) == print_shader(shader)
    assert "load_const (0x3f800000, 0xfffffffe)" in print_shader(shader)


FILE = Path(__file__).with_name("parser.txt")


def refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "^" in str(caught.value)


@each(FILE, "shaders", "code")
def test_malformed_text_is_refused_with_its_place(case: Case) -> None:
    refused(case.source, case.answer)


def test_no_text_and_too_many_dimensions_are_refused_with_their_place() -> None:
    refused("", "<nir>:1:1: error: expected 'shader', found the end of the text")
    refused(
        f"shader vertex\nvar shader_in vec4{'[1]' * 99} a",
        "<nir>:2:15: error: not a possible array",
    )


@pytest.mark.parametrize("opening", ["loop {\n", "if %c {\n", "if %c {\n} else {\n"])
def test_a_million_deep_nesting_is_an_error_and_no_crash(opening: str) -> None:
    with pytest.raises(InputError, match="nesting deeper than 256"):
        parse(HEAD + "1 %c = load_const (true)\n" + opening * 1_000_000)


def test_nesting_up_to_the_limit_is_read_and_printed() -> None:
    text = HEAD + "1 %c = load_const (true)\n" + "if %c {\n" * 256 + "}\n" * 256 + "}\n"
    shader = parse(text)
    assert print_shader(parse(print_shader(shader))) == print_shader(shader)


def test_values_nested_too_deeply_are_refused() -> None:
    with pytest.raises(InputError, match="value nested too deeply"):
        parse("shader vertex\nvar shader_in vec4 a (constant_initializer=" + "(" * 100000)


MORE = """shader compute "more"
function f (32x2 ivec2 place, deref int "what is found")
function main () entry
impl f {
    block b:
        32x2 %place = @load_param () (param=0)
        32 %d = @load_param () (param=1)
        32 %c = deref_cast %d (function_temp|shader_temp int) stride=4
        32 %x = mov %place.x
        @store_deref (%c, %x) (write_mask=x)
        return
}
impl main {
    var function_temp int[4] a
    var function_temp int[4] b
    block b0:
        32x2 %0 = load_const (0x00000001, 0x00000002)
        1 %1 = load_const (true)
        32 %a = deref_var &a (function_temp int[4])
        32 %b = deref_var &b (function_temp int[4])
        @copy_deref (%a, %b)
        32 %i = mov %0.y
        32 %e = deref_array &%a[%i] (function_temp int)
        call f (%0, %e)
        32 %n = undef
    if %1 {
        block b1:
    } else {
        block b2:
    }
    block b3:
        32 %p = phi b1: %i, b2: %n
        32 %q = bcsel %1, %p, %i
}
"""
"""what `everything` has not: calls, pointers, whole arrays"""
_TOKEN = re.compile(r'"(\\.|[^"])*"|[%$]?\w+|[^\w\s]')


@pytest.mark.parametrize("which", ["everything", "more"])
def test_no_word_and_no_mark_may_be_missing_and_no_mark_be_twice(which: str) -> None:
    """What is read as if all were there would be a slip of the pen that nobody finds."""
    text = print_shader(everything() if which == "everything" else parse(MORE))
    text = re.sub(r" *//.*", "", text)
    whole = print_shader(parse(text))
    seen, same = set(), []
    for token in _TOKEN.finditer(text):
        at, word = token.start(), token[0]
        before = text[text.rfind("\n", 0, at) + 1 : at]
        kind = (re.sub(r"\w+", "w", before), word)
        if kind in seen:
            continue
        seen.add(kind)
        for instead in (" ",) if re.search(r"\w", word) else (" ", f"{word} {word}"):
            try:
                found = print_shader(parse(text[:at] + instead + text[token.end() :]))
            except (InputError, ValidationError):
                continue
            if found == whole:
                same.append((before, word, instead))
    assert len(seen) > 150
    assert same == []


def test_a_phi_that_feeds_itself_outside_of_a_loop_is_refused() -> None:
    with pytest.raises(ValidationError):
        parse(HEAD + "block a:\n32 %1 = phi a: %1\n}")


def test_use_before_definition_is_refused() -> None:
    body = "1 %c = load_const (true)\nif %c { 32 %x = undef }\n32 %y = mov %x\n}"
    with pytest.raises(ValidationError):
        parse(HEAD + body)


def every_type() -> list[t.Type]:
    """Numbers in vectors of every width there is an opcode for, matrices, all that is sampled."""
    numbers = [base for base in t.Base if base.value in SCALARS]
    widths = [1, *(n for n in range(2, 17) if f"vec{n}" in OPCODES)]
    found = [t.vec(base, n) for base in numbers for n in widths]
    floats = (t.Base.FLOAT, t.Base.DOUBLE, t.Base.FLOAT16)
    found += [t.mat(b, c, r) for b in floats for c in (2, 3, 4) for r in (2, 3, 4)]
    kinds = (t.Base.FLOAT, t.Base.INT, t.Base.UINT, t.Base.INT64, t.Base.UINT64)
    for dim, base, array in product(t.Dim, kinds, (False, True)):
        found += [t.image(dim, array, base), t.texture(dim, array, base)]
        found += [t.sampler(dim, shadow, array, base) for shadow in (False, True)]
    plain = [*found, t.VOID, t.ATOMIC_UINT]
    return [*plain, *(t.array(each, 3) for each in found[::7]), t.array(t.array(t.FLOAT, 2), 5)]


SCALARS = {"float", "float16_t", "double", "bool"} | {
    f"{sign}int{size}" for sign in ("", "u") for size in ("", "8_t", "16_t", "64_t")
}


def test_every_type_has_a_spelling_of_its_own() -> None:
    types = every_type()
    assert len({str(type) for type in types}) == len(set(types)) > 300
    shader = Builder.shader_main(Stage.FRAGMENT, "types").shader
    for number, type in enumerate(types):
        shader.add_variable(f"v{number}", type, Mode.SHADER_TEMP)
    for copy in (parse(print_shader(shader)), deserialize(serialize(shader))):
        assert [v.type for v in copy.variables] == types
        copy.unref()
    shader.unref()


def test_every_field_of_a_variable_is_kept() -> None:
    """One field at a time is another than by default."""
    block = t.interface("Block", [t.Field("a", t.VEC4, offset=0)], "std140")
    others: dict[str, Any] = {
        "constant_initializer": (0x3F800000,),
        "interface": block,
        "access": Access.COHERENT,
        "interpolation": "flat",
        "precision": "highp",
        "image_format": "RGBA8",
    }
    for field in fields(Variable):
        if field.default is MISSING:
            continue
        value = others.get(field.name)
        if value is None:
            kinds = {bool: not field.default, int: 3, str: "word"}
            value = kinds[type(field.default)]
        shader = Builder.shader_main(Stage.FRAGMENT, "field").shader
        plain = shader.add_variable("plain", t.FLOAT, Mode.SHADER_TEMP)
        changed = shader.add_variable("v", t.FLOAT, Mode.SHADER_TEMP, **{field.name: value})
        assert getattr(changed, field.name) != getattr(plain, field.name)
        for copy in (parse(print_shader(shader)), deserialize(serialize(shader))):
            for mine, theirs in zip(shader.variables, copy.variables, strict=True):
                for own in fields(Variable):
                    assert getattr(mine, own.name) == getattr(theirs, own.name), field.name
            copy.unref()
        shader.unref()


def test_every_attribute_of_a_texture_operation_is_kept() -> None:
    """One at a time, and all together."""
    plain = Tex("tg4", [], t.Dim.CUBE)
    offsets = ((0, 1), (2, 3), (-4, 5), (6, -7))
    others: dict[str, Any] = {"is_array": True, "is_shadow": True}
    others |= {"texture_index": 3, "sampler_index": 2, "component": 1, "tg4_offsets": offsets}
    for chosen in [[], *([name] for name in others), list(others)]:
        b = Builder.shader_main(Stage.FRAGMENT, "texture")
        made = Tex("tg4", [("coord", b.imm_vec(1.0, 2.0, 3.0))], t.Dim.CUBE)
        for name in chosen:
            setattr(made, name, others[name])
        b.insert(made)
        for copy in (parse(print_shader(b.shader)), deserialize(serialize(b.shader))):
            (found,) = (i for i in copy.entry.first.instrs() if isinstance(i, Tex))
            for name, other in others.items():
                assert getattr(found, name) == (other if name in chosen else getattr(plain, name))
            copy.unref()
        b.shader.unref()


@each(FILE, "initial_values")
def test_an_initial_value_has_the_shape_of_its_type(case: Case) -> None:
    type, _, value = case.text.partition(" = ")
    text = f"""shader vertex
        type $S = struct "S" {{ float a; vec2[2] b }}
        var shader_temp {type} v (constant_initializer={value})
        impl main {{ }}"""
    if case.answer == "fits":
        shader = parse(text)
        assert print_shader(parse(print_shader(shader))) == print_shader(shader)
    else:
        with pytest.raises(InputError, match="does not have the shape of"):
            parse(text)


def test_text_is_indented_by_how_deep_it_stands() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "deep")
    b.push_if(b.imm_bool(True))
    b.push_loop()
    b.push_if(b.imm_bool(False))
    b.jump("break")
    b.push_else()
    b.pop_if()
    b.pop_loop()
    b.push_else()
    b.imm_int(7)
    b.pop_if()
    lines = print_shader(b.shader).split("impl main {\n")[1].splitlines()
    shape = [(len(line) - len(line.lstrip())) // 4 for line in lines]
    words = [line.split("(")[0].split("%")[0].strip() for line in lines]
    flow = ("if", "loop", "break", "}")
    kinds = [(d, w) for d, w in zip(shape, words, strict=True) if w.startswith(flow)]
    assert kinds == [
        (1, "if"),
        (2, "loop {"),
        (3, "if"),
        (5, "break"),  # an instruction of a block
        (3, "} else {"),
        (3, "}"),
        (2, "}"),
        (1, "} else {"),
        (1, "}"),
        (0, "}"),
    ]
    b.shader.unref()


LITTLE = """shader vertex "little"
type $A.1 = struct "A" { float a; vec2<8> b }
var uniform $A.1 one
var uniform mat3x2<16,row_major> rows
var uniform mat3x2<16> columns
var uniform subroutine:$f chosen
impl main {
    block start:
        32 %1 = load_const (1.5)
        32 %zero = load_const (0)
        @store_output (%1, %zero) (location=VARYING.POS, write_mask=none)
}
"""


def test_names_of_several_parts_layouts_and_empty_masks() -> None:
    shader = parse(LITTLE.replace("$f", "f"))
    one, rows, columns, chosen = (v.type for v in shader.variables)
    assert [f.name for f in one.fields] == ["a", "b"] and one.fields[1].type.stride == 8
    assert (rows.row_major, rows.stride) == (True, 16)
    assert (columns.row_major, columns.stride) == (False, 16)
    assert chosen is t.subroutine("f")
    text = print_shader(shader)
    assert "subroutine:f" in text and "write_mask" not in text
    assert print_shader(parse(text)) == text
    shader.unref()


@pytest.mark.parametrize(
    ("written", "value"), [("1.5", 1.5), ("-2e3", -2000.0), ("7", 7), ("0x10", 16)]
)
def test_numbers_of_any_kind(written: str, value: float) -> None:
    found = Tokens(written, "<text>").literal()
    assert found == value and type(found) is type(value)
