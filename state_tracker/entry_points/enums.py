"""OpenGL's enums by name: `GL.TRIANGLES`, and back: `GL.name_of(0x0505)`.

Names drop the `GL_` prefix; the three that would start with a digit get an underscore
(`GL._2D`). Many names share a value (`NO_ERROR`, `NONE`, `FALSE`, `POINTS` are all 0), so naming a
value takes a group where it matters.
"""

from __future__ import annotations

from pathlib import Path

# Names of small or overloaded values by group; other values are found by value alone.
GROUPS: dict[str, str] = {
    "boolean": "FALSE TRUE",
    "primitive": (
        "POINTS LINES LINE_LOOP LINE_STRIP TRIANGLES TRIANGLE_STRIP TRIANGLE_FAN QUADS QUAD_STRIP "
        "POLYGON LINES_ADJACENCY LINE_STRIP_ADJACENCY TRIANGLES_ADJACENCY TRIANGLE_STRIP_ADJACENCY "
        "PATCHES"
    ),
    "error": (
        "NO_ERROR INVALID_ENUM INVALID_VALUE INVALID_OPERATION STACK_OVERFLOW STACK_UNDERFLOW "
        "OUT_OF_MEMORY INVALID_FRAMEBUFFER_OPERATION CONTEXT_LOST"
    ),
    "blend": "ZERO ONE",
    "compare": "NEVER LESS EQUAL LEQUAL GREATER NOTEQUAL GEQUAL ALWAYS",
}


class Enums:
    """Every enum as an integer attribute. `GL` is the only instance."""

    def __init__(self, text: str):
        values: dict[str, int] = {}
        for line in text.splitlines():
            if line[0] != "#":
                name, value = line.split()
                values[name if name[0].isalpha() else "_" + name] = int(value, 16)
        self.__dict__.update(values)
        self._values = values
        self._names: dict[int, list[str]] | None = None

    def __getattr__(self, name: str) -> int:
        raise AttributeError(f"OpenGL has no enum GL_{name}")

    def value_of(self, name: str) -> int:
        """The value of `GL_TRIANGLES` or `TRIANGLES`; KeyError if there is no such enum."""
        name = name.removeprefix("GL_")
        return self._values[name if name[:1].isalpha() else "_" + name]

    def names(self) -> dict[str, int]:
        """All enums, by name."""
        return dict(self._values)

    def name_of(self, value: int, group: str | None = None) -> str:
        """`GL_TRIANGLES` for 4 in group "primitive"; hexadecimal if the value has no name."""
        if group is not None:
            for name in GROUPS[group].split():
                if self._values[name] == value:
                    return "GL_" + name
            return f"0x{value:04X}"
        if self._names is None:
            self._names = {}
            for name, number in self._values.items():
                self._names.setdefault(number, []).append(name.lstrip("_"))
        names = self._names.get(value)
        # The plain name is the one without a vendor suffix: usually the shortest. Bits of masks
        # share their small numbers with everything.
        plain = min(names, key=lambda n: (n.endswith("_BIT"), len(n))) if names else ""
        return "GL_" + plain if plain else f"0x{value:04X}"


GL = Enums((Path(__file__).parent / "data" / "gl_enums.txt").read_text(encoding="ascii"))
