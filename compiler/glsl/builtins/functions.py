"""The built-in functions, read from `functions.txt` and expanded when a name is first called.

An overload is `(result, ((direction, type), ...))`. Expansion is lazy because most shaders call a
dozen of the thousands of overloads; it is cached per name, filtered per language and stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.types import Base, Type
from gallette.compiler.text_tables import grouped_rows


@lazy_dataclass(frozen=True)
class Overload:
    """One signature of a built-in function."""

    name: str
    result: Type
    params: tuple[tuple[str, Type], ...]
    """(direction, type): direction is in, out, inout or const (must be a constant expression)"""

    def __str__(self) -> str:
        inner = ", ".join(
            (f"{d} " if d in ("out", "inout") else "") + str(p) for d, p in self.params
        )
        return f"{self.result} {self.name}({inner})"


_LETTERS = {
    "F": Base.FLOAT, "D": Base.DOUBLE, "I": Base.INT, "U": Base.UINT, "B": Base.BOOL,
    "L": Base.INT64, "M": Base.UINT64,
}  # fmt: skip
_GEN = {f"gen{letter}": base for letter, base in _LETTERS.items()}
_VEC = {f"{letter.lower()}vec".removeprefix("f"): base for letter, base in _LETTERS.items()}
_MAT = {"mat": Base.FLOAT, "dmat": Base.DOUBLE}
_SHAPES = tuple((c, r) for c in (2, 3, 4) for r in (2, 3, 4))

_IMAGE_COORDS = {
    "1D": "int",
    "2D": "ivec2",
    "3D": "ivec3",
    "2DRect": "ivec2",
    "Cube": "ivec3",
    "Buffer": "int",
    "1DArray": "ivec2",
    "2DArray": "ivec3",
    "CubeArray": "ivec3",
    "2DMS": "ivec2 int",
    "2DMSArray": "ivec3 int",
}
_LOADS = "420 es310 ARB_shader_image_load_store EXT_shader_image_load_store"
_ATOMICS = (
    "420 es320 ARB_shader_image_load_store EXT_shader_image_load_store OES_shader_image_atomic"
)
_ATOMIC_OPS = ("Add", "Min", "Max", "And", "Or", "Xor", "Exchange", "CompSwap")


def _image_lines() -> Iterator[tuple[str, str]]:
    for kind, coords in _IMAGE_COORDS.items():
        yield _LOADS, f"gvec4 imageLoad gimage{kind} {coords}"
        yield _LOADS, f"void imageStore gimage{kind} {coords} gvec4"
        for op in _ATOMIC_OPS:
            for letter, data in (("i", "int"), ("u", "uint")):
                args = f"{data} {data}" if op == "CompSwap" else data
                line = f"{data} imageAtomic{op} {letter}image{kind} {coords} {args}"
                yield _ATOMICS, line
        yield (
            "450 es320 OES_shader_image_atomic",
            (f"float imageAtomicExchange image{kind} {coords} float"),
        )
        yield "NV_shader_atomic_float", f"float imageAtomicAdd image{kind} {coords} float"
        for op in ("Min", "Max"):
            yield (
                "INTEL_shader_atomic_float_minmax",
                (f"float imageAtomic{op} image{kind} {coords} float"),
            )


@lru_cache(maxsize=1)
def _lines() -> dict[str, list[tuple[str, str]]]:
    """The unexpanded lines by name: name -> [(group header, line)]."""
    table: dict[str, list[tuple[str, str]]] = {}
    rows = grouped_rows(Path(__file__).with_name("functions.txt"))
    for group, line in (*rows, *_image_lines()):
        table.setdefault(line.split(None, 2)[1], []).append((group, line))
    return table


def builtin_names() -> list[str]:
    """Every name some language has as a built-in function."""
    return list(_lines())


def _type(word: str, n: int, g: int, m: int) -> Type:
    if word.endswith("]"):
        inner, _, length = word[:-1].partition("[")
        return t.array(_type(inner, n, g, m), int(length))
    if word in _GEN:
        return t.vec(_GEN[word], n)
    if word in _VEC:
        return t.vec(_VEC[word], n)
    if word in _MAT:
        return t.mat(_MAT[word], *_SHAPES[m])
    if word[0] == "g":
        word = ("", "i", "u")[g] + word[1:]
    return TYPE_NAMES[word]


def _expand(line: str, bias: bool) -> Iterator[Overload]:
    words = line.split()
    optional = words[-1][0] == "<"
    variants = [words]
    if optional:
        variants = [words[:-1]]
        if bias:
            variants.append([*words[:-1], words[-1][1:-1]])
    for variant in variants:
        flat = [w.rpartition(":")[2].partition("[")[0] for w in variant]
        del flat[1]
        widths: tuple[int, ...] = (1, 2, 3, 4) if any(w in _GEN for w in flat) else (1,)
        if any(w in _VEC for w in flat):
            widths = (2, 3, 4)
        bases = (0, 1, 2) if any(w[0] == "g" and w not in _GEN for w in flat) else (0,)
        shapes = range(9) if any(w in _MAT for w in flat) else (0,)
        for n in widths:
            for g in bases:
                for m in shapes:
                    params = []
                    for word in variant[2:]:
                        direction, _, name = word.rpartition(":")
                        params.append((direction or "in", _type(name, n, g, m)))
                    yield Overload(variant[1], _type(variant[0], n, g, m), tuple(params))


@lru_cache(maxsize=2048)
def _overloads(
    name: str, key: tuple[int, bool, bool, frozenset[str]], stage: str
) -> tuple[Overload, ...]:
    lang = Language(key[0], key[1], key[2], set(key[3]), stage=stage)
    bias = stage == "fragment" or (stage == "compute" and lang.has("NV_compute_shader_derivatives"))
    found: dict[tuple[tuple[str, Type], ...], Overload] = {}
    for group, line in _lines().get(name, ()):
        if lang.has_group(group):
            for overload in _expand(line, bias):
                found.setdefault(overload.params, overload)
    return tuple(found.values())


def overloads(name: str, lang: Language) -> tuple[Overload, ...]:
    """The overloads of a built-in function in this language and stage."""
    if name not in _lines():
        return ()
    return _overloads(name, lang.key, lang.stage)
