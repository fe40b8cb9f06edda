"""What shaders read and write: declarations of samplers, images, blocks and counters, and uses."""

from __future__ import annotations

import random
from collections.abc import Callable

from .source import Need, Source
from .tables import IMAGE_FORMATS, TARGETS, Shape

__all__ = ["add_resources"]

UNITS = 8  # of textures, images and blocks each


def _float(size: int) -> str:
    return "$f" if size == 1 else f"$f{size}"


def _int(size: int) -> str:
    return "$w" if size == 1 else f"ivec{size}({', '.join(['$w'] * size)})"


def _offset(r: random.Random, size: int) -> str:
    values = [str(r.randrange(-8, 8)) for _ in range(size)]
    return values[0] if size == 1 else f"ivec{size}({', '.join(values)})"


def _moving(size: int) -> str:
    return "$i" if size == 1 else f"$i{size}"


# -- samplers ------------------------------------------------------------------------------------


def _lookups(s: Source, shape: Shape, kind: str, shadow: bool) -> list[str]:
    """Expressions that look at a sampler SAMPLER of some shape."""
    r, fragment = s.r, s.stage == "f"
    size = "textureSize(SAMPLER)" if not _has_levels(shape) else "textureSize(SAMPLER, $w)"
    found = [f"vec4({size}{'.xyxy' if shape.sizes > 1 else ''})"]
    if "MS" in shape.sampler:
        found += [f"vec4(texelFetch(SAMPLER, {_int(shape.coords)}, $w))"] * 3
        s.extensions.add("ARB_shader_texture_image_samples")
        return [*found, "vec4(textureSamples(SAMPLER))"]
    if shape.sampler == "Buffer":
        return [*found, "vec4(texelFetch(SAMPLER, $w))", "vec4(texelFetch(SAMPLER, $i))"]
    if _has_levels(shape):
        found.append("vec4(textureQueryLevels(SAMPLER))")
        if fragment:
            place = _float(shape.derivatives)
            found.append(f"vec4(textureQueryLod(SAMPLER, {place}), 0.0, 1.0)")
    if shadow:
        return found + _compared(r, shape, fragment)
    place, flat = _float(shape.coords), shape.derivatives
    slopes = f"{_float(flat)}, {_float(flat)}"
    rect, cube = "Rect" in shape.sampler, "Cube" in shape.sampler
    plain = [f"texture(SAMPLER, {place})"] * 2 + [f"textureGrad(SAMPLER, {place}, {slopes})"]
    if not rect:
        plain.append(f"textureLod(SAMPLER, {place}, $f)")
        if fragment:
            plain.append(f"texture(SAMPLER, {place}, $f)")
    if not cube:
        offset = _offset(r, flat)
        plain.append(f"textureOffset(SAMPLER, {place}, {offset})")
        plain.append(f"textureGradOffset(SAMPLER, {place}, {slopes}, {offset})")
        whole, level = _int(shape.coords), "" if rect else ", $w"
        plain.append(f"texelFetch(SAMPLER, {whole}{level})")
        plain.append(f"texelFetchOffset(SAMPLER, {whole}{level}, {offset})")
        if not rect:
            plain.append(f"textureLodOffset(SAMPLER, {place}, $f, {offset})")
        if not shape.layers or shape.layers == "slice":
            plain.append(f"textureProj(SAMPLER, {_float(shape.coords + 1)})")
            plain.append(f"textureProjGrad(SAMPLER, {_float(shape.coords + 1)}, {slopes})")
    if shape.sampler in ("2D", "2DArray", "Cube", "CubeArray", "2DRect"):
        plain.append(f"textureGather(SAMPLER, {place}, {r.randrange(4)})")
        if not cube:
            plain.append(f"textureGatherOffset(SAMPLER, {place}, {_moving(2)}, {r.randrange(4)})")
            four = ", ".join(_offset(r, 2) for _ in range(4))
            plain.append(f"textureGatherOffsets(SAMPLER, {place}, ivec2[4]({four}))")
    return found + [f"vec4({text})" for text in plain]


def _compared(r: random.Random, shape: Shape, fragment: bool) -> list[str]:
    """Lookups that compare."""
    flat = shape.derivatives
    slopes = f"{_float(flat)}, {_float(flat)}"
    if shape.sampler == "CubeArray":
        return ["vec4(texture(SAMPLER, $f4, $f))", "textureGather(SAMPLER, $f4, $f)"]
    place = _float(max(shape.coords + 1, 3))
    found = [f"texture(SAMPLER, {place})"]
    if shape.sampler != "Cube":
        found.append(f"textureGrad(SAMPLER, {place}, {slopes})")
        if shape.sampler != "2DArray":
            found.append(f"textureOffset(SAMPLER, {place}, {_offset(r, flat)})")
    else:
        found.append(f"textureGrad(SAMPLER, {place}, {slopes})")
    if shape.sampler in ("1D", "2D", "1DArray"):
        found.append(f"textureLod(SAMPLER, {place}, $f)")
    if shape.sampler in ("2D", "2DRect", "1D"):
        found.append("textureProj(SAMPLER, $f4)")
    found = [f"vec4({text})" for text in found]
    if shape.sampler in ("2D", "2DArray", "Cube", "2DRect"):
        found.append(f"textureGather(SAMPLER, {_float(shape.coords)}, $f)")
    return found


def _has_levels(shape: Shape) -> bool:
    return shape.plain and "Rect" not in shape.sampler


def _sampler(s: Source, wanted: tuple[str, str] | None) -> Callable[[], str]:
    """Declares a sampler, or an array of some; what uses it."""
    r = s.r
    target, kind = wanted or (r.choice([*TARGETS]), r.choice(["", "", "i", "u", "z"]))
    shape = TARGETS[target]
    may_compare = shape.plain and shape.sampler != "3D"
    shadow = kind == "z" and may_compare and r.random() < 0.6
    name, count = s.fresh("t"), r.choice((1, 1, 1, 2, 3))
    first = r.randrange(UNITS - count + 1)
    letter = kind if kind in "iu" else ""
    text = f"{letter}sampler{shape.sampler}{'Shadow' if shadow else ''}"
    array = f"[{count}]" if count > 1 else ""
    s.declare(f"layout(binding = {first}) uniform {text} {name}{array};")
    s.needs.append(Need("sampler", first, count, target, kind))
    lookups = _lookups(s, shape, kind, shadow)

    def use() -> str:
        index = "[$w]" if count > 1 and r.random() < 0.7 else "[0]" if count > 1 else ""
        into = "n += ivec4" if letter else "f += "
        return f"{into}({r.choice(lookups).replace('SAMPLER', name + index)});"

    return use


def _handle(s: Source) -> Callable[[], str]:
    """Samplers and images made of numbers."""
    r = s.r
    s.extensions.add("ARB_bindless_texture")
    shape = TARGETS[r.choice(["TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP"])]
    at = r.choice(["uvec2($u, 0u)", "uvec2(u_ints[3].xy)", "uvec2(n.xy & 3)", "$u2"])
    place = _float(shape.coords)
    sampler = f"sampler{shape.sampler}({at})"
    if r.random() < 0.7:
        lookup = r.choice(
            [
                f"texture({sampler}, {place})",
                f"textureLod({sampler}, {place}, $f)",
                f"vec4(textureSize({sampler}, $w){'.xyxy' if shape.sizes > 1 else ''})",
            ]
        )
        return lambda: f"f += {lookup};"
    name = s.fresh("h")
    s.declare(f"layout(bindless_sampler) uniform sampler2D {name};")
    return lambda: f"f += texture({name}, $f2) + texelFetch({name}, {_int(2)}, $w);"


# -- images --------------------------------------------------------------------------------------


def _image(s: Source, wanted: tuple[str, str] | None) -> Callable[[], str]:
    """Declares an image, or an array of some; what uses it."""
    r = s.r
    target, format = wanted or (r.choice([*TARGETS]), r.choice([*IMAGE_FORMATS]))
    if format not in IMAGE_FORMATS:
        format = r.choice([*IMAGE_FORMATS])
    if r.random() < 0.3:
        format = r.choice(["R32UI", "R32I", "R32F"])
    shape = TARGETS[target]
    letter = "u" if format.endswith("UI") else "i" if format.endswith("I") else ""
    name, count = s.fresh("m"), r.choice((1, 1, 1, 3))
    first = r.randrange(UNITS - count + 1)
    more = r.choice(["", "", "coherent ", "volatile ", "restrict "])
    array = f"[{count}]" if count > 1 else ""
    s.declare(
        f"layout({IMAGE_FORMATS[format]}, binding = {first}) {more}uniform "
        f"{letter}image{shape.sampler} {name}{array};"
    )
    s.needs.append(Need("image", first, count, target, format))
    place = _int(3 if shape.sampler == "CubeArray" else shape.coords)
    if "MS" in shape.sampler:
        place += ", $w"
        s.extensions.add("ARB_shader_texture_image_samples")
    number = letter or "f"
    value = f"${number}4"
    into = "n += ivec4" if letter else "f += vec4"
    sized = f"imageSize(IMAGE){'.x' if shape.sizes > 1 or shape.sampler == 'Cube' else ''}"
    uses = [
        f"{into}(imageLoad(IMAGE, {place}));",
        f"imageStore(IMAGE, {place}, {value});",
        f"n.$c += {sized};",
    ]
    if "MS" in shape.sampler:
        uses.append("n.$c += imageSamples(IMAGE);")
    if format in ("R32UI", "R32I"):
        for op in ("Add", "Min", "Max", "And", "Or", "Xor", "Exchange"):
            uses.append(f"n.$c += int(imageAtomic{op}(IMAGE, {place}, ${number}));")
        swap = f"imageAtomicCompSwap(IMAGE, {place}, ${number}, ${number})"
        uses.append(f"n.$c += int({swap});")
    elif format == "R32F":
        uses.append(f"f.$c += imageAtomicExchange(IMAGE, {place}, $f);")

    def use() -> str:
        index = "[$w]" if count > 1 else ""
        return r.choice(uses).replace("IMAGE", name + index)

    return use


# -- blocks --------------------------------------------------------------------------------------

_STORAGE = (
    ("uint w[];", (
        "n.x += int(B.w[$w]);", "B.w[$w] = $u;", "n.y += int(atomicAdd(B.w[$w], $u));",
        "n.z ^= int(atomicCompSwap(B.w[$w], $u, $u));", "atomicMin(B.w[$w], $u);",
        "n.w += int(atomicExchange(B.w[$w], $u));", "n.x += B.w.length();",
        "atomicOr(B.w[$w], $u); atomicXor(B.w[$w], 5u); atomicAnd(B.w[$w], $u);",
    )),
    ("vec4 head; int counts[5]; Part parts[];", (
        "B.parts[$w].c[$w] = $f;", "f.x += B.parts[$w].a[$w];", "B.counts[$w] += $i;",
        "Part p = B.parts[$w]; B.parts[$w] = p; n.x += p.b;", "B.head.$c = $f; f += B.head;",
        "n.y += B.parts.length() + atomicMax(B.counts[$w], $i);",
    )),
    ("layout(row_major) mat3 m[2]; dvec3 d[];", (
        "f.x += B.m[$w][$w][$w];", "B.m[$w] = $m3;", "B.d[$w][$w] = $d;",
        "f.y += float(B.d[$w].y);", "f.xyz += B.m[$w] * $f3;", "n.x += B.d.length();",
    )),
    ("float a[3][4]; int64_t l[];", (
        "B.a[$w][$w] = $f;", "f.z += B.a[$w][$w];", "B.l[$w] = $l;", "n.x += int(B.l[$w]);",
        "float row[4] = B.a[$w]; f.x += row[$w]; B.a[$w] = row;",
    )),
    ("vec2 v[];", ("B.v[$w].y = $f;", "f.xy += B.v[$w];", "f.x += B.v[$w][$w];")),
)  # fmt: skip
_UNIFORMS = (
    ("vec4 a[16];", ("f += B.a[$w];", "f.x += B.a[$w][$w];")),
    ("mat3 m[2]; float s[5]; Part p[3]; ivec2 i;", (
        "f.x += B.m[$w][$w][$w] + B.s[$w];", "f.y += B.p[$w].c[$w];", "n.xy += B.i;",
        "Part q = B.p[$w]; f.xyz += q.a;",
    )),
    ("layout(row_major) mat4x2 m; double d[3]; uvec4 u;", (
        "f.xy += B.m[$w];", "f.z += float(B.d[$w]);", "n.x += int(B.u[$w]);",
    )),
    ("dmat2 m[4]; int64_t l; bool b[9];", (
        "f.x += float(B.m[$w][$w][$w]);", "n.x += int(B.l);", "if (B.b[$w]) n.y++;",
    )),
)  # fmt: skip


def _block(s: Source, storage: bool) -> Callable[[], str]:
    """Declares a block, or an array of some; what uses it."""
    r = s.r
    members, uses = r.choice(_STORAGE if storage else _UNIFORMS)
    name, count = s.fresh("b"), r.choice((1, 1, 1, 3))
    first = r.randrange(UNITS - count + 1)
    layout = r.choice(["std430", "std430", "std140"] if storage else ["std140", "shared", "packed"])
    if layout == "packed" and count > 1:
        layout = "std140"
    kind = "buffer" if storage else "uniform"
    more = r.choice(["", "coherent ", "volatile "]) if storage else ""
    array = f"[{count}]" if count > 1 else ""
    s.declare(
        f"layout({layout}, binding = {first}) {more}{kind} {name.title()} {{ {members} }} "
        f"{name}{array};"
    )
    target = "SHADER_STORAGE_BUFFER" if storage else "UNIFORM_BUFFER"
    s.needs.append(Need(target, first, count))

    def use() -> str:
        index = "[$w]" if count > 1 and r.random() < 0.7 else "[0]" if count > 1 else ""
        text = r.choice(uses).replace("B.", f"{name}{index}.")
        return f"{{ {text} }}"

    return use


def _counter(s: Source) -> Callable[[], str]:
    """Declares counters; what uses them."""
    r = s.r
    name, binding, count = s.fresh("a"), r.randrange(UNITS), r.choice((1, 4))
    offset = r.choice((0, 4, 16, 4000))
    array, index = ("[4]", "[$w]") if count > 1 else ("", "")
    s.declare(f"layout(binding = {binding}, offset = {offset}) uniform atomic_uint {name}{array};")
    s.needs.append(Need("ATOMIC_COUNTER_BUFFER", binding))
    counter = name + index
    uses = [f"atomicCounterIncrement({counter})", f"atomicCounterDecrement({counter})",
            f"atomicCounter({counter})", f"atomicCounterAdd({counter}, $u)",
            f"atomicCounterMax({counter}, $u)", f"atomicCounterExchange({counter}, $u)",
            f"atomicCounterCompSwap({counter}, $u, $u)"]  # fmt: skip
    return lambda: f"n.$c += int({r.choice(uses)});"


def _subroutine(s: Source) -> Callable[[], str]:
    """Declares subroutines that a uniform chooses from, and an array of uniforms."""
    name, kind = s.fresh("r"), s.fresh("Kind")
    s.declare(
        f"subroutine float {kind}(float x, inout ivec4 n);\n"
        f"subroutine({kind}) float {name}_one(float x, inout ivec4 n) {{ n.x++; return -x; }}\n"
        f"subroutine({kind}) float {name}_two(float x, inout ivec4 n) {{ return n[n.y] / x; }}\n"
        f"subroutine uniform {kind} {name}[2];"
    )
    return lambda: f"f.$c += {name}[{s.r.choice(['0', '1', '$w'])}]($f, n);"


def add_resources(s: Source, known: list[tuple[str, str, str]], count: int) -> None:
    """Some resources a stage may use; `known` are textures there are: target, kind and format."""
    r = s.r
    for _ in range(count):
        there = r.choice(known) if known and r.random() < 0.7 else None
        kind = r.random()
        if kind < 0.4:
            s.more.append((5, _sampler(s, there and there[:2])))
        elif kind < 0.55:
            s.more.append((4, _image(s, there and (there[0], there[2]))))
        elif kind < 0.75:
            s.more.append((4, _block(s, True)))
        elif kind < 0.88:
            s.more.append((4, _block(s, False)))
        elif kind < 0.94:
            s.more.append((3, _counter(s)))
        elif kind < 0.97:
            s.more.append((2, _subroutine(s)))
        else:
            s.more.append((3, _handle(s)))
