"""Blocks that stages share lay out their matrices alike: row_major and column_major on the block
and on its member, in both stages, for members that are and are not matrices."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled

ORDERS = ("", "layout(row_major)", "layout(column_major)")
MEMBERS = {
    "float x;": "vec4(x)",
    "vec4 x[2];": "x[0]",
    "mat3 x;": "vec4(x[0], 1.0)",
    "mat2 x[2];": "vec4(x[1])",
    "Plain x;": "x.v",
    "Plain x[2];": "x[1].v",
    "Matrix x;": "vec4(x.m[1], 1.0, 1.0)",
}
HEAD = "#version 450\nstruct Plain { vec4 v; }; struct Matrix { float f; mat2 m; };\n"


def wanted(member: str, a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Blocks have the same order; so have members that are matrices or structures."""
    blocks = [block == ORDERS[1] for block, _ in (a, b)]
    members = [(own or block) == ORDERS[1] for block, own in (a, b)]
    plain = member.startswith(("float", "vec4"))
    return blocks[0] == blocks[1] and (plain or members[0] == members[1])


class Shaders:
    """Both stages' shaders, each compiled once."""

    def __init__(self, gl: Any):
        self.gl = gl
        self.made: dict[tuple[int, str, tuple[str, str]], int] = {}

    def shader(self, kind: int, member: str, orders: tuple[str, str]) -> int:
        key = kind, member, orders
        if key not in self.made:
            block = f"{orders[0]} uniform B {{ {orders[1]} {member} }};\n"
            out = "out vec4 c;\n" if kind == GL.FRAGMENT_SHADER else ""
            to = "c" if out else "gl_Position"
            text = f"{HEAD}{block}{out}void main() {{ {to} = {MEMBERS[member]}; }}"
            self.made[key] = compiled(self.gl, kind, text)
        return self.made[key]

    def link(self, member: str, a: tuple[str, str], b: tuple[str, str]) -> bool:
        gl = self.gl
        program = gl.create_program()
        gl.attach_shader(program, self.shader(GL.VERTEX_SHADER, member, a))
        gl.attach_shader(program, self.shader(GL.FRAGMENT_SHADER, member, b))
        gl.link_program(program)
        (ok,) = gl.get_programiv(program, GL.LINK_STATUS)
        gl.delete_program(program)
        return bool(ok)


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
@pytest.mark.parametrize("member", MEMBERS)
def test_orders_of_matrices_match(driver: str, member: str) -> None:
    options: dict[str, Any] = {"profile": "core", "version": (4, 5), "size": (4, 4)}
    gl: Any = native_context(**options) if driver == "native" else create_context(driver, **options)
    shaders = Shaders(gl)
    forms = list(itertools.product(ORDERS, ORDERS))
    wrong = [
        (a, b)
        for a, b in itertools.product(forms, forms)
        if shaders.link(member, a, b) != wanted(member, a, b)
    ]
    assert wrong == []
    gl.release()
