"""What the driver has bound at a draw is what it would have if all of it were derived anew.

A forgotten dirty bit, or one that is cleared too early, shows here for every function in the table
of calls and every value at an edge that is accepted, whether or not it would show in a picture.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gallette.drivers.noop import context as noop
from gallette.pipe.derived_methods import calls
from gallette.pipe.interface import Context as PipeContext
from gallette.pipe.state import DrawInfo
from gallette.state_tracker import GL
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.enables import CAPABILITIES
from gallette.state_tracker.entry_points import registry
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from tests.state_tracker.anew import Bound, by_slot, plain
from tests.state_tracker.edges.scenes import KINDS, accepted, everything, scene
from tests.state_tracker.edges.walk import Edge, answer
from tests.state_tracker.negative_suite import topics

MOST = 2
"""accepted values that are tried of each parameter"""


def recording(drawn: list[Bound]) -> type:
    """The noop command stream; each draw leaves a record of everything that was bound."""
    bound: Bound = {}
    plainly: Bound = {}  # of what was bound before the last draw and is no temporary memory

    def watched(name: str) -> Callable[..., Any]:
        told = by_slot(name)

        def method(self: Any, *given: Any, **named: Any) -> Any:
            said = told(*given, **named)
            bound.update(said)
            for key in said:
                plainly.pop(key, None)
            return original[name](self, *given, **named)

        return method

    def draw_vbo(self: Any, info: DrawInfo) -> None:
        for key in bound.keys() - plainly.keys():
            plainly[key] = plain(bound[key])
        drawn.append(dict(plainly))
        for key in [k for k in plainly if k[0] == "set_vertex_buffers"]:
            del plainly[key]  # whose memory is written anew

    names = [n for n, c in calls(PipeContext).items() if c.verb in ("set", "bind")]
    original = {n: getattr(noop.NoopContext, n) for n in names}
    body: dict[str, Any] = {n: watched(n) for n in names}
    return type("Recording", (noop.NoopContext,), body | {"draw_vbo": draw_vbo})


def _only_answers(edge: Edge) -> bool:
    return edge.method.startswith(("get_", "is_", "are_", "gen_", "create_", "validate_", "check_"))


def _draw(gl: Any) -> int:
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    code = int(gl.get_error())
    while gl.get_error():
        pass
    return code


def _anew(gl: Any) -> None:
    """Nothing derived is kept."""
    gl.dirty = Dirty.ALL
    gl.vertex_input.unbind()
    gl.arrays.current.layouts.clear()


# Of the scene (program 4, its pipeline 1), capabilities, extensions: what the tables lack.
_MORE = [
    Edge("use_program", (0,)),
    Edge("bind_program_pipeline", (0,)),
    Edge("bind_program_pipeline", (1,)),
    Edge("use_program_stages", (1, GL.FRAGMENT_SHADER_BIT, 0)),
    Edge("use_program_stages", (1, GL.FRAGMENT_SHADER_BIT, 4)),
    Edge("use_program", (4,)),
    *(Edge(switch, (cap,)) for cap in CAPABILITIES for switch in ("enable", "disable")),
    Edge("bind_framebuffer", (GL.FRAMEBUFFER, 1)),
    *(
        Edge("framebuffer_parameteri", (GL.FRAMEBUFFER, pname, size))
        for size in (4, 8)
        for pname in (GL.FRAMEBUFFER_DEFAULT_WIDTH, GL.FRAMEBUFFER_DEFAULT_HEIGHT)
    ),
    Edge("framebuffer_texture", (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, 1, 0)),
    Edge("framebuffer_texture1d", (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_1D, 0, 0)),
    Edge("framebuffer_texture", (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, 1, 0)),
    Edge("framebuffer_texture3d", (GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_3D, 0, 0, 0)),
    Edge("bind_framebuffer", (GL.FRAMEBUFFER, 0)),
    Edge("shader_storage_block_binding", (4, 0, 1)),
    Edge("color_mask_indexed_ext", (0, 1, 0, 1, 0)),
    Edge("bind_program_arb", (GL.VERTEX_PROGRAM_ARB, 7)),
    Edge("delete_programs_arb", (1, [7])),
    Edge("client_attrib_default_ext", (GL.CLIENT_ALL_ATTRIB_BITS,)),
]


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("reads", "into a texture")])
def test_nothing_that_changed_is_forgotten(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Bound] = []
    monkeypatch.setattr(noop, "NoopContext", recording(drawn))
    wrong = []
    draws = 0
    complete = kind in ("fixed function", "sampler2D")
    for topic in (*topics(), "") if complete else ("textures",):
        gl = everything()
        scene(gl, kind)
        chosen = [e for e in accepted(topic, MOST) if not _only_answers(e)] if topic else _MORE
        _draw(gl)
        for edge in chosen:  # behind a draw for which all was derived anew
            answer(gl, edge)
            seen = []
            for prepare in (lambda gl: None, _anew):
                prepare(gl)
                drawn.clear()
                code = _draw(gl)
                seen.append((code, drawn[-1] if drawn else {}))
            draws += bool(drawn)
            (code, bound), (wanted, anew) = seen
            off = [k for k in anew.keys() | bound.keys() if anew.get(k) != bound.get(k)]
            if code != wanted or off:
                wrong.append(f"{edge}: {code} {wanted} {sorted(map(str, off))}")
        gl.release()
    assert wrong == []
    assert draws > 100


def _mentioned() -> set[str]:
    """Names of the functions that some table of calls makes."""
    here = Path(__file__).resolve().parent.parent
    tables = ("negative_calls.txt", "settings.txt", "calls_by_name.txt")
    return set(re.findall(r"[a-z]\w+", " ".join((here / t).read_text() for t in tables)))


# About objects that no call of the tables has: what is drawn with them is looked at by other tests.
_ELSEWHERE = {
    "programs/ati_shaders.txt": "bind_fragment_shader_ati end_fragment_shader_ati "
    "set_fragment_shader_constant_ati",
    "test_bindless.py": "make_image_handle_non_resident_arb make_image_handle_resident_arb "
    "make_texture_handle_non_resident_arb make_texture_handle_resident_arb "
    "program_uniform_handleui64_arb program_uniform_handleui64v_arb uniform_handleui64_arb "
    "uniform_handleui64v_arb",
    "programs/selection.txt": "render_mode",
    "piglit_subset/spec": "uniform_subroutinesuiv",
    "test_samples.py": "framebuffer_sample_locationsfv_arb "
    "named_framebuffer_sample_locationsfv_arb",
}


def test_what_makes_something_dirty_is_in_a_table() -> None:
    mentioned = _mentioned() | {edge.method for edge in _MORE}
    mentioned |= {n for names in _ELSEWHERE.values() for n in names.split()}
    silent = []
    for name in sorted(registry.implementations()):
        function = registry.implementation(FUNCTIONS.method(name))
        assert function is not None
        source = inspect.getsource(inspect.unwrap(function))
        if ("dirty" in source or ".changed()" in source) and name not in mentioned:
            silent.append(name)
    assert silent == []
