"""What a program of `fixed` may call beside the GL: textures of every kind, initial state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzz.gl_programs.common import EDGE, UNITS
from gallette.state_tracker import GL

if TYPE_CHECKING:
    from fuzz.gl_programs.world import World

__all__ = ["Old"]

_AXES = {
    GL.TEXTURE_1D: 1,
    GL.TEXTURE_2D: 2,
    GL.TEXTURE_3D: 3,
    GL.TEXTURE_CUBE_MAP: 2,
    GL.TEXTURE_RECTANGLE: 2,
}
_FACES = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + face for face in range(6)]
_INITIAL_ENVIRONMENT = {
    "TEXTURE_ENV_MODE": "MODULATE",
    "COMBINE_RGB": "MODULATE",
    "COMBINE_ALPHA": "MODULATE",
    "SRC0_RGB": "TEXTURE",
    "SRC0_ALPHA": "TEXTURE",
    "SRC1_RGB": "PREVIOUS",
    "SRC1_ALPHA": "PREVIOUS",
    "SRC2_RGB": "CONSTANT",
    "SRC2_ALPHA": "CONSTANT",
    "OPERAND0_RGB": "SRC_COLOR",
    "OPERAND1_RGB": "SRC_COLOR",
    "OPERAND2_RGB": "SRC_ALPHA",
    "OPERAND0_ALPHA": "SRC_ALPHA",
    "OPERAND1_ALPHA": "SRC_ALPHA",
    "OPERAND2_ALPHA": "SRC_ALPHA",
}


class Old:
    """The helpers of one context's world."""

    def __init__(self, world: World) -> None:
        self.gl, self.world = world.gl, world

    @staticmethod
    def f(*values: float) -> Any:
        return np.array(values, np.float32)

    def smooth(self, target: int, internal: int, seed: int, wrap: int) -> int:
        """A filtered texture in which neighbours differ by little, as the faces of a cube do."""
        gl, name = self.gl, self.world.gen("textures")
        gl.active_texture(GL.TEXTURE0 + UNITS)  # which is not drawn with
        gl.bind_texture(target, name)
        for axis in "STR":
            gl.tex_parameteri(target, getattr(GL, f"TEXTURE_WRAP_{axis}"), wrap)
        for which in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
            gl.tex_parameteri(target, which, GL.LINEAR)
        random = np.random.default_rng(seed)
        edges = (EDGE,) * _AXES[target]
        phases = random.integers(0, 8, (len(edges) if target != GL.TEXTURE_CUBE_MAP else 3, 4)) / 8
        for image in _FACES if target == GL.TEXTURE_CUBE_MAP else [target]:
            places = _directions(image) if image != target else _grid(edges)
            texels = _waves(places, phases)
            upload = getattr(gl, f"tex_image{len(edges)}d")
            upload(image, 0, internal, *edges, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        gl.bind_texture(target, 0)
        gl.active_texture(GL.TEXTURE0)
        return name

    def untextured(self, first: int) -> None:
        """No textures in the units from this one on."""
        gl = self.gl
        for unit in range(first, UNITS):
            gl.active_texture(GL.TEXTURE0 + unit)
            for target in _AXES:
                gl.disable(target)
        gl.active_texture(GL.TEXTURE0)

    def initial_light(self, light: int) -> None:
        """A light as a context finds it; it looks along the axis whatever the matrix was."""
        gl, bright = self.gl, 1.0 if light == GL.LIGHT0 else 0.0
        gl.lightfv(light, GL.AMBIENT, self.f(0, 0, 0, 1))
        gl.lightfv(light, GL.DIFFUSE, self.f(bright, bright, bright, 1))
        gl.lightfv(light, GL.SPECULAR, self.f(bright, bright, bright, 1))
        gl.lightfv(light, GL.POSITION, self.f(0, 0, 1, 0))
        gl.lightfv(light, GL.SPOT_DIRECTION, self.f(0, 0, -1))
        for name, value in (
            (GL.SPOT_EXPONENT, 0.0),
            (GL.SPOT_CUTOFF, 180.0),
            (GL.CONSTANT_ATTENUATION, 1.0),
            (GL.LINEAR_ATTENUATION, 0.0),
            (GL.QUADRATIC_ATTENUATION, 0.0),
        ):
            gl.lightf(light, name, value)

    def initial_material(self) -> None:
        gl, both = self.gl, GL.FRONT_AND_BACK
        gl.disable(GL.COLOR_MATERIAL)
        gl.materialfv(both, GL.AMBIENT, self.f(0.2, 0.2, 0.2, 1.0))
        gl.materialfv(both, GL.DIFFUSE, self.f(0.8, 0.8, 0.8, 1.0))
        gl.materialfv(both, GL.SPECULAR, self.f(0, 0, 0, 1))
        gl.materialfv(both, GL.EMISSION, self.f(0, 0, 0, 1))
        gl.materialf(both, GL.SHININESS, 0.0)

    def initial_environment(self) -> None:
        """Of the active unit."""
        gl = self.gl
        for name, value in _INITIAL_ENVIRONMENT.items():
            gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, name), getattr(GL, value))
        gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, self.f(0, 0, 0, 0))
        for scale in (GL.RGB_SCALE, GL.ALPHA_SCALE):
            gl.tex_envf(GL.TEXTURE_ENV, scale, 1.0)

    def initial_coordinates(self) -> None:
        """None are made in the active unit, and the planes are the initial ones; but that of the
        last is 1, for it divides the others."""
        gl = self.gl
        for number, axis in enumerate("STRQ"):
            coordinate = getattr(GL, axis)
            gl.disable(getattr(GL, f"TEXTURE_GEN_{axis}"))
            gl.tex_geni(coordinate, GL.TEXTURE_GEN_MODE, GL.EYE_LINEAR)
            plane = self.f(*(float(number == i and number != 2) for i in range(4)))
            for which in (GL.OBJECT_PLANE, GL.EYE_PLANE):
                gl.tex_genfv(coordinate, which, plane)

    def initial_current(self) -> None:
        """Current values, which arrays leave undefined; coordinates that are a direction."""
        gl = self.gl
        gl.color4f(1.0, 1.0, 1.0, 1.0)
        gl.secondary_color3f(0.0, 0.0, 0.0)
        gl.normal3f(0.0, 0.0, 1.0)
        gl.fog_coordf(0.0)
        for unit in range(UNITS):
            gl.multi_tex_coord4f(GL.TEXTURE0 + unit, 0.5, 0.25, 0.125, 1.0)


def _grid(edges: tuple[int, ...]) -> Any:
    """Where the texels are, from 0 to 1 along each axis."""
    return np.stack(np.meshgrid(*[np.arange(edge) / edge for edge in edges]), -1)


def _directions(face: int) -> Any:
    """Where the texels of a face are around the middle of a cube, in waves of a third."""
    t, s = np.meshgrid(*[(np.arange(EDGE) + 0.5) / EDGE * 2 - 1] * 2, indexing="ij")
    one = np.ones_like(s)
    x, y, z = [
        (one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one)
    ][face - _FACES[0]]  # fmt: skip
    return np.stack([x, y, z], -1) / np.sqrt(x * x + y * y + z * z)[..., None] / 3


def _waves(places: Any, phases: Any) -> Any:
    """Colours at these places: a wave of each channel along each axis, summed up; what is repeated
    meets itself."""
    total = np.sin(2 * np.pi * (places[..., None] + phases)).sum(axis=-2)
    return np.round(127.5 + 100 / len(phases) * total).astype(np.uint8)
