"""Forty thousand calls at the edges of their arguments: the native GL's error codes, and whatever
failed has left everything as it was."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from tests.conftest import native_context
from tests.state_tracker.edges.digest import difference, digest
from tests.state_tracker.edges.values import limits_named
from tests.state_tracker.edges.walk import Edge, answer, edges, prepared, walk
from tests.state_tracker.negative_suite import topics
from tests.state_tracker.test_negative import EXPLAINED

# METHOD.parameter patterns beside those of the negative suite: why the two GLs differ there.
_ONLY_HERE = {
    "point_parameterf.pname": "POINT_DISTANCE_ATTENUATION has three values, of which this is none",
    "lightf.pname lighti.pname light_modeli.pname materialf.pname fogf.pname fogi.pname "
    "tex_envi.pname tex_envf.pname tex_geni.pname": "what has several values is no single number",
    "get_integeri_v.target get_floati_v.target": "indexed matrices of EXT_direct_state_access",
    "bind_buffer_range.offset": "a negative offset is INVALID_VALUE (section 6.1.1)",
    "bind_buffers_range.count": "zero names have no range to be wrong (section 6.1.1)",
    "tex_image3d.level tex_image3d.depth": "two errors apply",
    "tex_image2d_multisample.internalformat renderbuffer_storage.internalformat":
        "luminance and alpha are no colours to render to (section 9.4)",
    "get_compressed_tex_image.level readn_pixels.bufSize": "two errors apply",
    "tex_parameteri.pname sampler_parameteri.pname":
        "ARB_seamless_cubemap_per_texture: LINEAR is neither TRUE nor FALSE",
    "invalidate_tex_image.level": "TEXTURE_MAX_LEVEL does not bound what can be invalidated",
    "texture_view.*": "two errors apply",
    "*uniform4f*.location": "no uniform is at location 1",
    "get_program_resourceiv.programInterface": "an unknown enum is INVALID_ENUM (section 2.3.1)",
    "*object_label.identifier *object_label.name":
        "a name without an object yet has nothing to label (section 20.9)",
    "secondary_color_pointer.size": "three components or BGRA (section 10.3)",
    "*buffer_storage.flags": "Mesa's machine has no sparse buffers (ARB_sparse_buffer)",
    "vertex_*attrib_l_*.type vertex_attrib_l_*.type":
        "handles are attributes, too (ARB_bindless_texture)",
    "use_program_stages.program":
        "PROGRAM_SEPARABLE counts as it was when the program was linked (section 7.3)",
    "map1f.target map2f.target": "a map of the other dimension is no such target",
}  # fmt: skip


def explained(method: str, parameter: str) -> bool:
    place = f"{method}.{parameter}"
    patterns = " ".join(_ONLY_HERE).split()
    return (method, parameter) in EXPLAINED or any(fnmatchcase(place, p) for p in patterns)


@cache
def our_codes(topic: str) -> list[int | None]:
    """What numpipe's context answers to the edges of a topic."""
    gl = create_context("numpipe", profile="compat", version=(4, 3), size=(16, 16))
    codes = walk(gl, topic)
    gl.release()
    return codes


def test_limits_are_those_of_parameters() -> None:
    known = [f"{m}.{p.name}" for t in topics().values() for m, _ in t
             for p in FUNCTIONS.method(m).params]  # fmt: skip
    for limit, pattern in limits_named():
        assert limit in GL.names(), limit
        assert any(fnmatchcase(place, pattern) for place in known), pattern


@pytest.mark.native
@pytest.mark.parametrize("topic", topics())
def test_error_codes_at_edges_are_the_native_gls(topic: str) -> None:
    mine = our_codes(topic)
    theirs = native_context(profile="compat", version=(4, 5), size=(16, 16))
    expected = walk(theirs, topic)
    theirs.release()
    wrong = [
        f"{edge}: {GL.name_of(wanted, 'error')}, not {GL.name_of(found or 0, 'error')}"
        for edge, wanted, found in zip(edges(topic), expected, mine, strict=True)
        if wanted is not None and wanted != found and not explained(edge.method, edge.parameter)
    ]
    assert wrong == []


def after_valid_calls(made: list[Edge]) -> GLInterface:
    """A context in which objects have contents."""
    gl = prepared(create_context("numpipe", profile="compat", version=(4, 3), size=(16, 16)))
    for edge in made:
        if not edge.parameter:
            answer(gl, edge)
    return gl


@pytest.mark.parametrize("topic", topics())
def test_a_call_that_fails_leaves_everything_as_it_was(topic: str) -> None:
    """Those that fail after all valid calls, too; which these are, another context finds out."""
    made = list(edges(topic))
    failed = [edge for edge, code in zip(made, our_codes(topic), strict=True) if code]
    another = after_valid_calls(made)
    failing = [edge for edge in failed if answer(another, edge)]
    another.release()
    assert len(failing) > 0.9 * len(failed)
    gl = after_valid_calls(made)
    before = digest(gl)
    for start in range(0, len(failing), 500):
        run = failing[start : start + 500]
        assert all(answer(gl, edge) for edge in run)
        assert difference(before, digest(gl)) == [], sorted({edge.method for edge in run})
    gl.release()
