"""Entry points that set uniforms: each spelling for each type, through the program in use and
through a program by name; and those that ask what a uniform is.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.state_tracker.entry_points.functions import FUNCTIONS

_LETTERS = {"f": "float", "i": "int", "ui": "uint", "d": "double", "i64": "int64", "ui64": "uint64"}
_GETTER = {"f": "fv", "i": "iv", "ui": "uiv", "d": "dv", "i64": "i64vARB", "ui64": "ui64vARB"}
_VECTORS = {"f": "vec", "i": "ivec", "ui": "uvec", "d": "dvec", "i64": "i64vec", "ui64": "u64vec"}
_SCALARS = {"i64": "int64_t", "ui64": "uint64_t"}


def tests() -> Iterator[tuple[str, str, str]]:
    for letters in _LETTERS:
        yield _vectors(letters, "", "the program in use")
        yield _vectors(letters, "Program", "a program by name")
        yield _bounded(letters)
    for letters in "fd":
        yield _matrices(letters, "", "the program in use")
        yield _matrices(letters, "Program", "a program by name")


def _head(uniforms: list[str], sums: list[str], wide: bool) -> str:
    extension = "GL_ARB_gpu_shader_int64"
    lines = ["[require]", "GL >= 4.5", "GLSL >= 4.50", *([extension] if wide else []), "SIZE 8 8"]
    lines += ["", "[vertex shader passthrough]", "", "[fragment shader]", "#version 450"]
    lines += [f"#extension {extension}: require"] * wide
    lines += [*uniforms, "out vec4 color;", "", "void main()", "{"]
    lines += [f"\tcolor = vec4(0.0, {' + '.join(sums)}, 0.0, 1.0);", "}", "", "[test]"]
    return "\n".join(lines) + "\n"


def _numbers(letters: str, count: int, start: int) -> list[str]:
    sign = -1 if letters[0] in "fid" else 1
    half = 0.5 if letters in "fd" else 0
    return [f"{(start + n) * (sign if n % 2 else 1) + half:g}" for n in range(count)]


def _vectors(letters: str, owner: str, what: str) -> tuple[str, str, str]:
    suffix = "ARB" if "64" in letters else ""
    uniforms, sums, lines = [], [], []
    first = "$program " if owner else ""
    for size in (1, 2, 3, 4):
        scalar = _SCALARS.get(letters, _LETTERS[letters])
        kind = scalar if size == 1 else f"{_VECTORS[letters]}{size}"
        at = size * 10
        uniforms.append(f"layout(location = {at}) uniform {kind} u{size};")
        uniforms.append(f"layout(location = {at + 1}) uniform {kind} a{size}[3];")
        last = "" if size == 1 else f".{'xyzw'[size - 1]}"
        sums += [f"float(u{size}{last})", f"float(a{size}[2]{last})"]
        name = f"gl{owner}Uniform{size}{letters}"
        getter = f"glGetUniform{_GETTER[letters]}"
        asked = f"{getter} $program {at}"
        one, two, three = (_numbers(letters, size, n) for n in (2, 12, 22))
        lines += [
            "",
            f"call {name}{suffix} {first}{at} {' '.join(one)}",
            f"check {getter} $program {at} = {' '.join(one)}",
            f"call {name}v{suffix} {first}{at} 1 ({' '.join(two)})",
            f"check {asked} = {' '.join(two)}",
            f"call {name}v{suffix} {first}{at + 1} 3 ({' '.join(one + two + three)})",
            *(
                f"check {getter} $program {at + 1 + n} = {' '.join(values)}"
                for n, values in enumerate((one, two, three))
            ),
            # Beyond the array's end: ignored.
            f"call {name}v{suffix} {first}{at + 2} 3 ({' '.join(three * 3)})",
            f"check {getter} $program {at + 3} = {' '.join(three)}",
            f"check {getter} $program {at + 1} = {' '.join(one)}",
        ]
    lines += ["check glGetError = GL_NO_ERROR"]
    return (
        f"gl-4.5/uniforms/{'program-' if owner else ''}{_LETTERS[letters]}",
        f"Every gl{owner}Uniform of {_LETTERS[letters]} values sets them in {what}.",
        _head(uniforms, sums, "64" in letters) + "\n".join(lines).strip(),
    )


def _bounded(letters: str) -> tuple[str, str, str]:
    uniforms, sums, lines = [], [], []
    for size in (1, 2, 3, 4):
        scalar = _SCALARS.get(letters, _LETTERS[letters])
        kind = scalar if size == 1 else f"{_VECTORS[letters]}{size}"
        uniforms.append(f"layout(location = {size}) uniform {kind} u{size};")
        sums.append(f"float(u{size}{'' if size == 1 else '.' + 'xyzw'[size - 1]})")
        suffix = "ARB" if "64" in letters else ""
        values = " ".join(_numbers(letters, size, 12))
        room = size * (8 if "64" in letters or letters == "d" else 4)
        getter = f"glGetnUniform{_GETTER[letters].removesuffix('ARB')}ARB $program {size}"
        lines += [
            f"call glUniform{size}{letters}v{suffix} {size} 1 ({values})",
            f"check {getter} {room} = {_LETTERS[letters]}({values})",
            f"call {getter} {room - 1} zeros({room})",
            "check glGetError = GL_INVALID_OPERATION",
        ]
    return (
        f"gl-4.5/uniforms/bounded-{_LETTERS[letters]}",
        f"glGetnUniform{_GETTER[letters]} gives a uniform, and an error where there is no room.",
        _head(uniforms, sums, "64" in letters) + "\n".join(lines),
    )


def _matrices(letters: str, owner: str, what: str) -> tuple[str, str, str]:
    uniforms, sums, lines = [], [], []
    first = "$program " if owner else ""
    kind = "mat" if letters == "f" else "dmat"
    for number, (columns, rows) in enumerate((c, r) for c in (2, 3, 4) for r in (2, 3, 4)):
        size = f"{columns}" if columns == rows else f"{columns}x{rows}"
        name = f"{owner}UniformMatrix{size}{letters}v"
        assert name in FUNCTIONS
        uniforms.append(f"layout(location = {number}) uniform {kind}{size} m{size};")
        sums.append(f"float(m{size}[{columns - 1}][{rows - 1}])")
        values = _numbers(letters, columns * rows, number)
        turned = [values[c * rows + r] for r in range(rows) for c in range(columns)]
        getter = f"check glGetUniform{letters}v $program {number} = {' '.join(values)}"
        lines += [
            "",
            f"call gl{name} {first}{number} 1 GL_FALSE ({' '.join(values)})",
            getter,
            f"call gl{name} {first}{number} 1 GL_FALSE ({' '.join(['0'] * len(values))})",
            f"call gl{name} {first}{number} 1 GL_TRUE ({' '.join(turned)})",
            getter,
        ]
    word = {"f": "float", "d": "double"}[letters]
    return (
        f"gl-4.5/uniforms/{'program-' if owner else ''}{word}-matrices",
        f"Every gl{owner}UniformMatrix of {word} values sets them in {what}, transposed or not.",
        _head(uniforms, sums, False) + "\n".join(lines).strip(),
    )
