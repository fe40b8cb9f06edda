"""Entry points that set uniforms: each spelling for each type, through the program in use and
through a program by name; and those that ask what a uniform is.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import Test, drawn, main
from gallette.state_tracker.entry_points.functions import FUNCTIONS

_LETTERS = {"f": "float", "i": "int", "ui": "uint", "d": "double", "i64": "int64", "ui64": "uint64"}
_GETTER = {"f": "fv", "i": "iv", "ui": "uiv", "d": "dv", "i64": "i64vARB", "ui64": "ui64vARB"}
_VECTORS = {"f": "vec", "i": "ivec", "ui": "uvec", "d": "dvec", "i64": "i64vec", "ui64": "u64vec"}
_SCALARS = {"i64": "int64_t", "ui64": "uint64_t"}


def tests() -> Iterator[Test]:
    for letters in _LETTERS:
        yield _vectors(letters, "")
        yield _vectors(letters, "Program")
        yield _bounded(letters)
    for letters in "fd":
        yield _matrices(letters, "")
        yield _matrices(letters, "Program")


def _test(
    name: str, purpose: str, uniforms: list[str], sums: list[str], lines: list[str], owner: str = ""
) -> Test:
    """A test of a program whose uniforms are all active: their sum is the colour."""
    wide = ["GL_ARB_gpu_shader_int64"] if "int64" in " ".join(uniforms) else []
    fragment = [f"#extension {extension}: require" for extension in wide]
    fragment += [*uniforms, "out vec4 color;"]
    fragment += main(f"color = vec4(0.0, {' + '.join(sums)}, 0.0, 1.0);")
    place = f"gl-4.5/uniforms/{'program-' if owner else ''}{name}"
    what = "a program by name" if owner else "the program in use"
    body = drawn(450, fragment, lines, require=wide, gl="GL >= 4.5")
    return place, purpose.format(what=what, owner=owner), body


def _kind(letters: str, size: int) -> tuple[str, str]:
    """The GLSL type, and its last component."""
    if size == 1:
        return _SCALARS.get(letters, _LETTERS[letters]), ""
    return f"{_VECTORS[letters]}{size}", f".{'xyzw'[size - 1]}"


def _numbers(letters: str, count: int, start: int) -> list[str]:
    sign = -1 if letters[0] in "fid" else 1
    half = 0.5 if letters in "fd" else 0
    return [f"{(start + n) * (sign if n % 2 else 1) + half:g}" for n in range(count)]


def _vectors(letters: str, owner: str) -> Test:
    suffix = "ARB" if "64" in letters else ""
    uniforms, sums, lines = [], [], list[str]()
    for size in (1, 2, 3, 4):
        kind, last = _kind(letters, size)
        at = size * 10
        uniforms.append(f"layout(location = {at}) uniform {kind} u{size};")
        uniforms.append(f"layout(location = {at + 1}) uniform {kind} a{size}[3];")
        sums += [f"float(u{size}{last})", f"float(a{size}[2]{last})"]
        one, two, three = (_numbers(letters, size, n) for n in (2, 12, 22))

        def call(
            vector: str, place: int, values: str, name: str = f"gl{owner}Uniform{size}{letters}"
        ) -> str:
            first = "$program " if owner else ""
            return f"call {name}{vector}{suffix} {first}{place} {values}"

        def check(place: int, values: list[str]) -> str:
            getter = f"glGetUniform{_GETTER[letters]}"
            return f"check {getter} $program {place} = {' '.join(values)}"

        lines += [
            *([""] if lines else []),
            call("", at, " ".join(one)),
            check(at, one),
            call("v", at, f"1 ({' '.join(two)})"),
            check(at, two),
            call("v", at + 1, f"3 ({' '.join(one + two + three)})"),
            *(check(at + 1 + n, values) for n, values in enumerate((one, two, three))),
            # Beyond the array's end: ignored.
            call("v", at + 2, f"3 ({' '.join(three * 3)})"),
            check(at + 3, three),
            check(at + 1, one),
        ]
    lines += ["check glGetError = GL_NO_ERROR"]
    purpose = f"Every gl{{owner}}Uniform of {_LETTERS[letters]} values sets them in {{what}}."
    return _test(_LETTERS[letters], purpose, uniforms, sums, lines, owner)


def _bounded(letters: str) -> Test:
    uniforms, sums, lines = [], [], []
    wide = "64" in letters
    for size in (1, 2, 3, 4):
        kind, last = _kind(letters, size)
        uniforms.append(f"layout(location = {size}) uniform {kind} u{size};")
        sums.append(f"float(u{size}{last})")
        values = " ".join(_numbers(letters, size, 12))
        room = size * (8 if wide or letters == "d" else 4)
        getter = f"glGetnUniform{_GETTER[letters].removesuffix('ARB')}ARB $program {size}"
        lines += [
            f"call glUniform{size}{letters}v{'ARB' if wide else ''} {size} 1 ({values})",
            f"check {getter} {room} = {_LETTERS[letters]}({values})",
            f"call {getter} {room - 1} zeros({room})",
            "check glGetError = GL_INVALID_OPERATION",
        ]
    purpose = (
        f"glGetnUniform{_GETTER[letters]} gives a uniform, and an error where there is no room."
    )
    return _test(f"bounded-{_LETTERS[letters]}", purpose, uniforms, sums, lines)


def _matrices(letters: str, owner: str) -> Test:
    uniforms, sums, lines = [], [], list[str]()
    first = "$program " if owner else ""
    kind, word = ("mat", "float") if letters == "f" else ("dmat", "double")
    for number, (columns, rows) in enumerate((c, r) for c in (2, 3, 4) for r in (2, 3, 4)):
        size = f"{columns}" if columns == rows else f"{columns}x{rows}"
        name = f"{owner}UniformMatrix{size}{letters}v"
        assert name in FUNCTIONS
        uniforms.append(f"layout(location = {number}) uniform {kind}{size} m{size};")
        sums.append(f"float(m{size}[{columns - 1}][{rows - 1}])")
        values = _numbers(letters, columns * rows, number)
        turned = [values[c * rows + r] for r in range(rows) for c in range(columns)]
        getter = f"check glGetUniform{letters}v $program {number} = {' '.join(values)}"
        call = f"call gl{name} {first}{number} 1"
        lines += [""] if lines else []
        lines += [f"{call} GL_FALSE ({' '.join(values)})", getter]
        lines += [f"{call} GL_FALSE ({' '.join(['0'] * len(values))})"]
        lines += [f"{call} GL_TRUE ({' '.join(turned)})", getter]
    purpose = (
        f"Every gl{{owner}}UniformMatrix of {word} values sets them in {{what}}, transposed or not."
    )
    return _test(f"{word}-matrices", purpose, uniforms, sums, lines, owner)
