"""Textures and images by handle (ARB_bindless_texture): made resident, then assigned to
uniforms.
"""

from __future__ import annotations

import re

import numpy as np

from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.commands.uniforms import TYPES, BlockMember, find_uniform, write_member
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL


def _texture(session: Session, words: Words) -> tuple[int, int]:
    """A unit's number, and the texture that this test made on it.

    Characters after the digits are ignored: `1D 0` is unit 1, as in other runners.
    """
    digits = re.match(r"\d+", words.peek())
    if digits is None:
        raise words.error("expected a texture unit", back=0)
    words.skip(1)
    unit = int(digits[0])
    if unit not in session.textures:
        raise words.error(f"there is no texture {unit}")
    return unit, session.textures[unit]


@command("resident texture")
def resident_texture(session: Session, words: Words) -> None:
    """resident texture UNIT: shaders may use the texture of a unit by its handle"""
    unit, name = _texture(session, words)  # like piglit, ignore the rest of the line
    handle = int(session.gl.get_texture_handle_arb(name))
    session.gl.make_texture_handle_resident_arb(handle)
    session.handles[unit] = handle


@command("resident image texture")
def resident_image(session: Session, words: Words) -> None:
    """resident image texture UNIT GL_FORMAT: level 0, to be read and written by its handle"""
    unit, name = _texture(session, words)
    form = enum(words.line, words.word("a format"))
    words.end()
    handle = int(session.gl.get_image_handle_arb(name, 0, 0, 0, form))
    session.gl.make_image_handle_resident_arb(handle, GL.READ_WRITE)
    session.handles[unit] = handle


def _handle(session: Session, words: Words) -> int:
    unit = words.integer("a texture unit")
    words.end()
    if unit not in session.handles:
        raise words.error(f"texture {unit} was not made resident")
    return session.handles[unit]


@command("uniform handle")
def uniform_handle(session: Session, words: Words) -> None:
    """uniform handle NAME UNIT: NAME may be a uniform block's member"""
    name = words.word("a uniform's name")
    handle = _handle(session, words)
    session.need_program()
    target = find_uniform(session, name)
    if isinstance(target, BlockMember):
        value = np.array([handle], np.uint64).view(np.uint32)
        write_member(session, target, TYPES["uvec2"], value)
    elif target is not None:
        session.gl.uniform_handleui64_arb(target, handle)


@command("vertex attrib handle")
def attribute_handle(session: Session, words: Words) -> None:
    """vertex attrib handle NAME UNIT: for all vertices"""
    name = words.word("an attribute's name")
    handle = _handle(session, words)
    location = int(session.gl.get_attrib_location(session.program, name))
    if location < 0:
        session.wrong(f"{name!r} is no active attribute of the program")
        return
    session.gl.vertex_attrib_l1ui64_arb(location, handle)
