"""Programs of OpenGL's first years, which do random things: each runs once as commands, and once
without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.stream.calls import CALLS, Role
from tests.state_tracker.helpers import linked
from tests.state_tracker.stream.worlds import Through

SIZE = 64
THROUGH_C = [call.function.method for call in CALLS if call.role is Role.OLD]
STATE = (
    *("enable", "disable", "bind_texture", "blend_func", "depth_func", "cull_face", "scissor"),
    *("active_texture", "tex_envi", "tex_envf", "shade_model", "alpha_func", "polygon_mode"),
    *("color_mask", "viewport", "use_program", "uniform4f"),
    *("vertex_pointer", "normal_pointer", "color_pointer", "tex_coord_pointer", "bind_buffer"),
    *("enable_client_state", "disable_client_state", "client_active_texture", "buffer_sub_data"),
    *("draw_arrays", "draw_elements", "draw_range_elements", "bind_vertex_array"),
)
GROUPS = (
    *(GL.ALL_ATTRIB_BITS, GL.ENABLE_BIT, GL.LIGHTING_BIT, GL.CURRENT_BIT, GL.TEXTURE_BIT),
    *(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT, GL.POLYGON_BIT | GL.LINE_BIT, GL.SCISSOR_BIT),
)
ENVIRONMENTS = (GL.ADD, GL.MODULATE)
FILLS = (*[GL.FILL] * 5, GL.LINE)
LISTS = 5
MODES = (GL.POINTS, GL.LINES, GL.TRIANGLES, GL.QUADS, GL.TRIANGLE_STRIP, GL.POLYGON)


class Old:
    """A program of OpenGL's first years that does random things."""

    w = 1.5

    def __init__(self, driver: str, seed: int) -> None:
        self.context = create_context(driver, profile="compat", version=(2, 1), size=(SIZE, SIZE))
        self.gl: Any = Through(self.context, [*THROUGH_C, *STATE])
        self.random = np.random.default_rng(seed)
        self.told: list[Any] = []
        self.lists = self.gl.gen_lists(LISTS)
        for number in range(LISTS):
            self.gl.new_list(self.lists + number, GL.COMPILE)
            if number == 1:
                self.gl.color3f(0.5, 0.0, 1.0)  # two calls: no primitive alone
            if number == 4:
                self.moved(6, lambda: self.primitive(()))  # a run, which sets nothing
            else:
                self.shape()
            self.gl.end_list()
        for capability in (GL.DEPTH_TEST, GL.LIGHT0, GL.NORMALIZE):
            self.gl.enable(capability)

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> list[float]:
        return self.random.uniform(low, high, count).tolist()

    def pick(self, things: Any) -> Any:
        return things[int(self.random.integers(len(things)))]

    def attribute(self) -> None:
        gl, random = self.gl, self.random
        vector = np.array(self.numbers(4), np.float32)
        choice: list[Callable[[], None]] = [
            lambda: gl.color3f(*self.numbers(3, 0)),
            lambda: gl.color4ub(*random.integers(0, 256, 4).tolist()),
            lambda: gl.color3ubv(random.integers(0, 256, 3, dtype=np.uint8)),
            lambda: gl.color4dv(np.array(self.numbers(4, 0))),
            lambda: gl.normal3f(*self.numbers(3)),
            lambda: gl.normal3dv(np.array(self.numbers(3))),
            lambda: gl.tex_coord2fv(vector[:2]),
            lambda: gl.multi_tex_coord3f(GL.TEXTURE1, *self.numbers(3)),
            lambda: gl.multi_tex_coord2dv(GL.TEXTURE2, np.array(self.numbers(2))),
            lambda: gl.secondary_color3f(*self.numbers(3, 0)),
        ]
        self.pick(choice)()

    def vertex(self) -> None:
        gl = self.gl
        choice: list[Callable[[], None]] = [
            lambda: gl.vertex2f(*self.numbers(2)),
            lambda: gl.vertex3d(*self.numbers(3)),
            lambda: gl.vertex4fv(np.array([*self.numbers(3), self.w], np.float32)),
            lambda: gl.vertex2dv(np.array(self.numbers(2))),
            lambda: gl.vertex2i(*self.random.integers(-1, 2, 2).tolist()),
            lambda: gl.vertex3iv(self.random.integers(-1, 2, 3, dtype=np.int32)),
        ]
        self.pick(choice)()

    def shape(self) -> None:
        self.gl.begin(self.pick(MODES))
        self.gl.normal3f(0.0, 0.6, 0.8)
        for _ in range(12):
            self.vertex()
        self.gl.end()

    def primitive(self, attributes: tuple[float, ...] = (0.3,)) -> None:
        """A primitive, with attributes before and between its vertices."""
        for share in attributes:
            if self.random.random() < share:
                self.attribute()
        self.gl.begin(self.pick(MODES))
        for _ in range(int(self.random.integers(8))):
            if self.random.random() < sum(attributes):
                self.attribute()
            self.vertex()
        self.gl.end()

    def moved(self, count: int, drawn: Callable[[], None]) -> None:
        """Primitives, each with a matrix of its own."""
        for _ in range(count):
            self.gl.push_matrix()
            for _ in range(int(self.random.integers(3))):
                self.matrix()
            drawn()
            self.gl.pop_matrix()

    def primitives(self, count: int, most: int = 14) -> None:
        for _ in range(count):
            if self.random.random() < 0.3:
                self.attribute()
            self.gl.begin(self.pick(MODES))
            for _ in range(int(self.random.integers(most))):
                if self.random.random() < 0.3:
                    self.attribute()
                self.vertex()
            self.gl.end()

    def matrix(self) -> None:
        gl, random = self.gl, self.random.random
        turned = np.eye(4, dtype=np.float32)[self.random.permutation(4)]
        choice: list[Callable[[], None]] = [
            lambda: gl.translatef(*self.numbers(3, -0.3, 0.3)),
            lambda: gl.translated(*self.numbers(3, -0.3, 0.3)),
            lambda: gl.rotatef(self.numbers(1)[0] * 90, *self.numbers(3)),
            lambda: gl.scalef(*self.numbers(3, 0.5, 1.1)),
            lambda: gl.scaled(0.0, 0.5, 0.5) if random() < 0.1 else None,
            lambda: gl.mult_matrixf(turned) if random() < 0.1 else None,
            lambda: gl.load_matrixf(turned * 0.5) if random() < 0.1 else None,
            lambda: gl.load_identity() if random() < 0.1 else None,
            lambda: gl.mult_matrixd(turned.astype(np.float64)) if random() < 0.1 else None,
            lambda: gl.load_matrixd(turned / 3.0 + np.eye(4)) if random() < 0.1 else None,
        ]
        self.pick(choice)()

    def scene(self, count: int, lists: tuple[int, ...]) -> None:
        gl, depth = self.gl, 0
        for _ in range(count):
            if depth < 8 and self.random.random() < 0.5:
                gl.push_matrix()
                depth += 1
            for _ in range(int(self.random.integers(3))):
                self.matrix()
            gl.call_list(self.lists + self.pick(lists))
            if depth and self.random.random() < 0.5:
                gl.pop_matrix()
                depth -= 1
        for _ in range(depth):
            gl.pop_matrix()
        gl.load_identity()

    def look(self) -> Any:
        gl = self.gl
        for name, count in ((GL.CURRENT_COLOR, 4), (GL.CURRENT_NORMAL, 3)):
            self.told.append(gl.get_floatv(name)[:count])
        self.told.append(list(gl.get_floatv(GL.MODELVIEW_MATRIX)))
        self.told.append((gl.get_integerv(GL.MODELVIEW_STACK_DEPTH), gl.get_error()))
        return np.frombuffer(gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)

    def run(self) -> list[Any]:
        gl, pictures = self.gl, []
        for turn in range(8):
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            for capability in (GL.LIGHTING, GL.COLOR_MATERIAL):
                (gl.enable if self.random.random() < 0.5 else gl.disable)(capability)
            if turn % 2:
                self.primitives(60)
                if turn == 1:
                    self.primitives(1, 5000)  # more than a batch of calls
            else:
                gl.enable(GL.LIGHTING)
                gl.disable(GL.COLOR_MATERIAL)
                self.scene(90, ((0,), (0, 2, 3), (0, 1, 2), (0, 7))[turn // 2])
            pictures.append(self.look())
        for turn in range(8):
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            (gl.enable if turn in (2, 3) else gl.disable)(GL.LIGHTING)
            (gl.enable if turn == 3 else gl.disable)(GL.COLOR_MATERIAL)
            gl.matrix_mode(GL.PROJECTION if turn == 4 else GL.MODELVIEW)
            if turn == 5:  # in perspective
                gl.load_matrixf(np.eye(4, dtype=np.float32)[[0, 1, 3, 2]] + np.eye(4))
            if turn < 6:
                self.moved(300, partial(self.primitive, () if turn == 1 else (0.3,)))
            else:
                gl.load_identity()
                self.scene(120, ((4,), (0, 4, 7, 1))[turn - 6])
            gl.load_identity()
            pictures.append(self.look())
        return pictures


class Sprites(Old):
    """Few vertices at a time, between which state and matrices change."""

    # Colours in perspective depend on whether draws are one: as constants they are not rounded.
    w = 1.0

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed)
        gl = self.gl
        self.textures = gl.gen_textures(3)
        for number, format in enumerate((GL.RGBA, GL.LUMINANCE, GL.ALPHA)):
            gl.bind_texture(GL.TEXTURE_2D, self.textures[number])
            gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
            texels = self.random.integers(0, 256, 64, dtype=np.uint8)
            gl.tex_image2d(GL.TEXTURE_2D, 0, format, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        # Lists that set state, of which one calls the other.
        self.small = gl.gen_lists(2)
        gl.new_list(self.small, GL.COMPILE)
        gl.bind_texture(GL.TEXTURE_2D, self.textures[1])
        gl.enable(GL.TEXTURE_2D)
        gl.blend_func(GL.ONE, GL.SRC_ALPHA)
        gl.color3f(0.25, 0.75, 1.0)
        gl.begin(GL.QUADS)
        for corner in ((-0.5, -0.5), (0.5, -0.25), (0.5, 0.5), (-0.25, 0.5)):
            gl.tex_coord2f(*corner)
            gl.vertex3f(*corner, self.numbers(1)[0])
        gl.end()
        gl.end_list()
        gl.new_list(self.small + 1, GL.COMPILE)
        gl.depth_func(GL.LEQUAL)
        gl.translatef(*self.numbers(3, -0.1, 0.1))
        gl.call_list(self.small)
        self.primitive()
        gl.end_list()

    def state(self) -> None:
        gl, half = self.gl, self.random.random() < 0.5
        choice: list[Callable[[], None]] = [
            lambda: gl.bind_texture(GL.TEXTURE_2D, self.pick(self.textures)),
            lambda: (gl.enable if half else gl.disable)(GL.TEXTURE_2D),
            lambda: (gl.enable if half else gl.disable)(self.pick((GL.BLEND, GL.LIGHTING))),
            lambda: (gl.enable if half else gl.disable)(self.pick((GL.CULL_FACE, GL.LIGHT1))),
            lambda: (gl.enable if half else gl.disable)(self.pick((GL.COLOR_SUM, GL.NORMALIZE))),
            lambda: gl.blend_func(self.pick((GL.ONE, GL.SRC_ALPHA)), GL.ONE),
            lambda: gl.depth_func(self.pick((GL.LESS, GL.ALWAYS))),
            lambda: gl.cull_face(self.pick((GL.FRONT, GL.BACK))),
            lambda: gl.scissor(0, 0, self.pick((40, 60)), 64),
            lambda: (gl.enable if half else gl.disable)(GL.ALPHA_TEST),
            lambda: gl.active_texture(GL.TEXTURE1 if half else GL.TEXTURE0),
            lambda: gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, self.pick(ENVIRONMENTS)),
            lambda: gl.tex_envf(GL.TEXTURE_ENV, GL.RGB_SCALE, 2.0 if half else 1.0),
            lambda: gl.alpha_func(GL.GREATER, 0.25 if half else 0.5),
            lambda: gl.polygon_mode(self.pick((GL.FRONT, GL.BACK)), self.pick(FILLS)),
        ]
        self.pick(choice)()

    def material(self) -> None:
        """Set a material, perhaps to what is none."""
        gl, wrong = self.gl, self.random.random() < 0.05
        name = self.pick((GL.AMBIENT, GL.DIFFUSE, GL.EMISSION, GL.AMBIENT_AND_DIFFUSE, GL.SPECULAR))
        face = GL.LEFT if wrong else self.pick((GL.FRONT, GL.BACK, GL.FRONT_AND_BACK))
        shininess = np.float32(self.random.integers(0, 200 if wrong else 100))
        choice: list[Callable[[], None]] = [
            lambda: gl.materialfv(face, name, np.array(self.numbers(4, 0), np.float32)),
            lambda: gl.materialf(face, GL.SHININESS, shininess),
            lambda: gl.materialfv(face, GL.SHININESS, np.array([shininess])),
            lambda: gl.materialfv(face, GL.COLOR_INDEXES, np.zeros(3, np.float32)),
        ]
        self.pick(choice)()

    def other_matrix(self) -> None:
        """Change a matrix of another stack, mostly without staying there."""
        gl, mode = self.gl, self.pick((GL.TEXTURE, GL.TEXTURE, GL.PROJECTION))
        wrong = self.random.random() < 0.02
        choice: list[Callable[[], None]] = [
            *(self.matrix, self.matrix, gl.push_matrix, gl.pop_matrix, gl.load_identity),
            lambda: gl.ortho(-1.25, -1.25 if wrong else 1.0, -1.0, 1.0, -2.0, 2.0),
            lambda: gl.frustum(-1.0, 1.0, -1.0, 1.0, 1.0, 3.0) if mode == GL.TEXTURE else None,
        ]
        gl.matrix_mode(GL.FOG if wrong else mode)
        self.pick(choice)()
        if self.random.random() < 0.9:
            gl.matrix_mode(GL.MODELVIEW)

    def reset_matrices(self) -> None:
        gl = self.gl
        for unit in (GL.TEXTURE1, GL.TEXTURE0):
            gl.active_texture(unit)
            for mode in (GL.TEXTURE, GL.PROJECTION, GL.MODELVIEW):
                gl.matrix_mode(mode)
                gl.load_identity()

    def frame(self, turn: int) -> None:
        gl, depth, random = self.gl, 0, self.random
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
        gl.shade_model(GL.FLAT if turn == 4 else GL.SMOOTH)
        for number in range(30):
            for _ in range(int(random.integers(3))):
                self.state()
            if turn % 3 and random.random() < 0.6:
                if random.random() < 0.5 and depth < 20:
                    gl.push_matrix()
                    depth += 1
                self.matrix()
            self.primitives(int(random.integers(1, 3)), 6)
            if random.random() < 0.3:
                gl.call_list(self.small + int(random.integers(3)))  # the last is none
            if turn in (2, 5) and random.random() < 0.5:
                self.other_matrix()
            if turn in (1, 2, 5) and random.random() < 0.4:
                self.material()
            if random.random() < 0.2:
                gl.rectf(*self.numbers(4))
                gl.recti(*random.integers(-1, 2, 4).tolist())
            if depth and random.random() < 0.5:
                gl.pop_matrix()
                depth -= 1
            if number == 20 and turn == 3:
                gl.pop_matrix()  # an error, perhaps
            if number == 20 and turn == 5:
                gl.enable(GL.COLOR_MATERIAL)
                gl.enable(GL.LIGHTING)
        if turn == 5:
            gl.disable(GL.COLOR_MATERIAL)
            self.primitives(3)
        for _ in range(depth):
            gl.pop_matrix()
        self.reset_matrices()

    def light(self, red: float, emission: float) -> None:
        """What the stream has no slots of."""
        gl, colour = self.gl, np.array([red, 0.5, 0.25, red], np.float32)
        for name in (GL.POSITION, GL.DIFFUSE):
            gl.lightfv(GL.LIGHT0, name, colour)
        gl.materialfv(GL.FRONT, GL.EMISSION, emission * colour)
        gl.matrix_mode(GL.PROJECTION)
        gl.load_identity()
        gl.translatef(0.25 * red, 0.0, 0.0)
        gl.matrix_mode(GL.MODELVIEW)

    def between(self, turn: int) -> None:
        """What the stream has no slots of, some of which ends all that is known."""
        gl = self.gl
        choice: list[Callable[[], None]] = [
            lambda: gl.tex_geni(
                GL.S, GL.TEXTURE_GEN_MODE, self.pick((GL.EYE_LINEAR, GL.SPHERE_MAP))
            ),
            lambda: gl.fogf(GL.FOG_DENSITY, *self.numbers(1, 0)),
            lambda: gl.color_material(GL.FRONT_AND_BACK, self.pick((GL.DIFFUSE, GL.EMISSION))),
            lambda: gl.point_parameterf(GL.POINT_SIZE_MIN, 1.0),
            lambda: gl.rectf(-1.0, -1.0, -0.5, -0.5),
            lambda: gl.multi_tex_coord2f(GL.TEXTURE0, 0.25, 0.75),
        ]
        self.pick(choice)()
        for mode in (GL.MODELVIEW, GL.TEXTURE)[: 1 + turn % 2]:
            gl.matrix_mode(mode)
            gl.load_identity()
            gl.translatef(*self.numbers(3, -0.2, 0.2))

    def run(self) -> list[Any]:
        pictures = []
        for turn in range(6):
            seed = int(self.random.integers(1 << 30))
            if turn == 4:
                self.gl.enable(GL.COLOR_MATERIAL)
            # The third frame begins in the state that the second one left: draws are known.
            for red, emission in ((1, 0), (1, 0), (1, 0), (1, 0.5), (1, 0), (0, 0)):
                if turn < 4:
                    self.light(red, emission)
                self.random = np.random.default_rng(seed)
                self.frame(turn)
                pictures.append(self.look())
                for face in (GL.FRONT, GL.BACK):
                    self.told.append(self.gl.get_materialfv(face, GL.DIFFUSE))
                    self.told.append(self.gl.get_materialfv(face, GL.SHININESS))
            self.gl.disable(GL.COLOR_MATERIAL)
            self.between(turn)
        return pictures


ARRAYS: dict[str, tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    "vertex_pointer": (GL.VERTEX_ARRAY, (2, 3, 4), (GL.FLOAT, GL.SHORT, GL.INT, GL.DOUBLE)),
    "normal_pointer": (GL.NORMAL_ARRAY, (3,), (GL.FLOAT, GL.FLOAT, GL.BYTE)),
    "color_pointer": (GL.COLOR_ARRAY, (3, 4), (GL.UNSIGNED_BYTE, GL.FLOAT, GL.UNSIGNED_SHORT)),
    "tex_coord_pointer": (GL.TEXTURE_COORD_ARRAY, (1, 2, 3, 4), (GL.FLOAT, GL.SHORT, GL.INT)),
}
"""By function: the array, its sizes and types; the least usual of these are not copied."""
DTYPES: dict[int, Any] = {
    GL.FLOAT: np.float32, GL.DOUBLE: np.float64, GL.SHORT: np.int16, GL.INT: np.int32,
    GL.BYTE: np.int8, GL.UNSIGNED_BYTE: np.uint8, GL.UNSIGNED_SHORT: np.uint16,
}  # fmt: skip
INDICES = {GL.UNSIGNED_BYTE: np.uint8, GL.UNSIGNED_SHORT: np.uint16, GL.UNSIGNED_INT: np.uint32}
ROOM = 24  # vertices of the arrays


class ArraySprites(Sprites):
    """Vertices come from the application's memory, which it changes after each draw."""

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed)
        self.memory = {name: np.zeros(ROOM * 48, np.uint8) for name in ARRAYS}
        self.formats = dict.fromkeys(ARRAYS, (2, int(GL.FLOAT), 0))
        self.indices = np.zeros(64, np.uint8)
        self.enabled: set[int] = set()
        self.pointer("vertex_pointer")

    def pointer(self, name: str) -> None:
        array, sizes, types = ARRAYS[name]
        size, type_ = self.pick(sizes), self.pick(types[: 2 + int(self.random.random() < 0.01)])
        stride = self.pick((0, 0, 36, 37))
        self.formats[name] = size, type_, stride
        reverses = name == "color_pointer" and (size, type_) == (4, GL.UNSIGNED_BYTE)
        given: tuple[int, ...] = (GL.BGRA if reverses else size,)
        if name == "normal_pointer":
            given = ()
        getattr(self.gl, name)(*given, type_, stride, self.memory[name].ctypes.data)
        if name == "vertex_pointer" or self.random.random() < 0.7:
            self.gl.enable_client_state(array)
            self.enabled.add(array)
        else:
            self.gl.disable_client_state(array)
            self.enabled.discard(array)

    def fill(self, name: str) -> None:
        """Give an array other contents."""
        size, type_, stride = self.formats[name]
        dtype, memory = np.dtype(DTYPES[type_]), self.memory[name]
        stride = stride or size * dtype.itemsize
        values = self.random.uniform(-1, 1, (ROOM, size))
        if dtype.kind != "f":
            values = (values * 2).round() if name != "color_pointer" else np.abs(values) * 200
        if name == "vertex_pointer" and size == 4:
            values[:, 3] = self.w
        raw = values.astype(dtype).view(np.uint8)
        np.lib.stride_tricks.as_strided(memory, raw.shape, (stride, 1))[:] = raw

    def primitives(self, count: int, most: int = 14) -> None:
        gl, random = self.gl, self.random
        for _ in range(count):
            if random.random() < 0.3:
                super().primitives(1, most)
                continue
            if random.random() < 0.3:
                self.attribute()
            if random.random() < 0.4:
                self.pointer(self.pick([*ARRAYS]))
            for name in ARRAYS:
                self.fill(name)
            first, number = int(random.integers(4)), int(random.integers(most))
            if random.random() < 0.6:
                gl.draw_arrays(self.pick(MODES), first, number)
            else:
                kind = self.pick([*INDICES])
                found = random.integers(0, ROOM, number).astype(INDICES[kind]).view(np.uint8)
                self.indices[: found.size] = found
                gl.draw_elements(self.pick(MODES), number, kind, self.indices.ctypes.data)
            for memory in (*self.memory.values(), self.indices):
                memory[:] = 77

    def between(self, turn: int) -> None:
        super().between(turn)
        gl = self.gl
        data = self.random.uniform(-1, 1, (ROOM, 2)).astype(np.float32)
        if turn == 1:  # a list copies them, too
            gl.new_list(self.lists + 3, GL.COMPILE)
            self.primitives(3)
            gl.end_list()
        elif turn == 2:  # a buffer instead of memory
            buffer = gl.gen_buffers(1)[0]
            gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
            gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
            gl.vertex_pointer(2, GL.FLOAT, 0, None)
            for first in range(0, ROOM - 3, 3):
                gl.draw_arrays(GL.TRIANGLES, first, 3)
            gl.bind_buffer(GL.ARRAY_BUFFER, 0)
            self.pointer("vertex_pointer")
        elif turn == 3:  # two units
            gl.client_active_texture(GL.TEXTURE1)
            gl.tex_coord_pointer(2, GL.FLOAT, 0, data.ctypes.data)
            gl.client_active_texture(GL.TEXTURE0)


class BufferSprites(Sprites):
    """Vertices come from buffers, also those of two texture units, and so do indices."""

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed)
        gl = self.gl
        self.buffers = gl.gen_buffers(4)
        for buffer in self.buffers[:3]:
            values = self.random.uniform(-1, 1, 12 * ROOM).astype(np.float32)
            gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
            gl.buffer_data(GL.ARRAY_BUFFER, values.nbytes, values, GL.STATIC_DRAW)
        indices = self.random.integers(0, ROOM, 64).astype(np.uint16)
        gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, self.buffers[3])
        gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, indices.nbytes, indices, GL.STATIC_DRAW)
        self.arrays = [0, *gl.gen_vertex_arrays(2)]
        for array in self.arrays:
            gl.bind_vertex_array(array)
            gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, self.buffers[3])
            for name in ARRAYS:
                self.pointer(name)

    def pointer(self, name: str) -> None:
        """Set an array, perhaps that of another unit, and switch it on or off."""
        gl, random = self.gl, self.random.random
        array, sizes, _ = ARRAYS[name]
        if name == "tex_coord_pointer":
            gl.client_active_texture(GL.TEXTURE1 if random() < 0.4 else GL.TEXTURE0)
        gl.bind_buffer(GL.ARRAY_BUFFER, self.pick(self.buffers[:3]))
        size = () if name == "normal_pointer" else (2 if name == "vertex_pointer" else sizes[-1],)
        getattr(gl, name)(*size, GL.FLOAT, self.pick((0, 32)), 16 * int(self.random.integers(3)))
        on = name == "vertex_pointer" or random() < 0.6
        (gl.enable_client_state if on else gl.disable_client_state)(array)
        if random() < 0.05:
            gl.disable_client_state(GL.TEXTURE0)  # an error

    def primitives(self, count: int, most: int = 14) -> None:
        gl, random = self.gl, self.random.random
        for _ in range(count):
            if random() < 0.1:
                super().primitives(1, most)
                continue
            if random() < 0.5:
                self.attribute()
            if random() < 0.2:
                gl.bind_vertex_array(self.pick(self.arrays))
            if random() < 0.5:
                self.pointer(self.pick([*ARRAYS]))
            if random() < 0.2:
                gl.bind_buffer(GL.ARRAY_BUFFER, self.buffers[0])
                x = np.array(self.numbers(1), np.float32)
                gl.buffer_sub_data(GL.ARRAY_BUFFER, 32, x.nbytes, x)
            number = int(self.random.integers(1, most))
            if random() < 0.6:
                gl.draw_arrays(self.pick(MODES), int(self.random.integers(4)), number)
            elif random() < 0.5:
                gl.draw_elements(self.pick(MODES), number, GL.UNSIGNED_SHORT, 2 * number)
            else:
                kind = GL.UNSIGNED_SHORT
                gl.draw_range_elements(self.pick(MODES), 0, ROOM, number, kind, 2 * number)

    def between(self, turn: int) -> None:
        super().between(turn)
        gl = self.gl
        gl.bind_vertex_array(0)
        if turn == 2:  # memory instead of a buffer, for a while
            data = self.random.uniform(-1, 1, (ROOM, 2)).astype(np.float32)
            gl.bind_buffer(GL.ARRAY_BUFFER, 0)
            gl.vertex_pointer(2, GL.FLOAT, 0, data.ctypes.data)
            for first in range(0, ROOM - 3, 3):
                gl.color3f(*self.numbers(3, 0))
                gl.draw_arrays(GL.TRIANGLES, first, 3)
            self.pointer("vertex_pointer")
        elif turn == 3:  # other storage under the same name
            values = self.random.uniform(-1, 1, 12 * ROOM).astype(np.float32)
            gl.bind_buffer(GL.ARRAY_BUFFER, self.buffers[0])
            gl.buffer_data(GL.ARRAY_BUFFER, values.nbytes, values, GL.STATIC_DRAW)


SHADED = """
void main() {
    gl_Position = ftransform();
    gl_FrontColor = gl_Color;
    gl_TexCoord[0] = gl_TextureMatrix[0] * gl_MultiTexCoord0;
}
"""
NUMBERED = """#version 130
void main() {
    gl_Position = ftransform();
    gl_FrontColor = vec4(float(gl_VertexID & 3) / 3.0, gl_Color.gba);
}
"""
TINTED = """
uniform vec4 tint; uniform sampler2D image;
void main() {
    vec4 light = gl_LightSource[0].diffuse + gl_Fog.density;
    gl_FragColor = gl_Color * light + tint + texture2D(image, gl_TexCoord[0].st) * 0.1;
}
"""


class Shaded(ArraySprites):
    """Programs read the state of fixed function."""

    def __init__(self, driver: str, seed: int) -> None:
        super().__init__(driver, seed)
        sources = (SHADED, TINTED), (NUMBERED, TINTED)
        self.programs = [0, *(linked(self.context, vertex=v, fragment=f) for v, f in sources)]

    def state(self) -> None:
        gl, program = self.gl, self.pick(self.programs)
        if self.random.random() < 0.8:
            super().state()
            return
        gl.use_program(program)
        if program and self.random.random() < 0.05:
            gl.uniform4f(gl.get_uniform_location(program, "tint"), *self.numbers(4, 0, 0.3))


class Tracking(Old):
    """A shader reads a material that follows the colour of each sprite."""

    def run(self) -> list[Any]:
        gl, pictures = self.gl, []
        follows = "gl_FrontColor = gl_FrontMaterial.diffuse; gl_Position = ftransform();"
        shown = "gl_FragColor = gl_Color;"
        linked(
            self.context,
            vertex=f"void main() {{ {follows} }}",
            fragment=f"void main() {{ {shown} }}",
        )
        gl.enable(GL.COLOR_MATERIAL)
        for _ in range(3):
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            for step in range(16):
                gl.scissor(0, 0, 60 + step % 2, 64)
                gl.color3f(step / 16.0, 0.5, 1.0)
                gl.rectf(step / 8.0 - 1.0, -1.0, step / 8.0 - 0.9, 1.0)
            pictures.append(self.look())
        return pictures


STATES: dict[str, Callable[[Any], None]] = {
    "blending": lambda gl: gl.blend_func(GL.ONE, GL.ZERO),
    "no blending": lambda gl: gl.disable(GL.BLEND),
    "culling": lambda gl: [gl.cull_face(GL.FRONT), gl.enable(GL.CULL_FACE)],
    "lines": lambda gl: gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINE),
    "a texture": lambda gl: gl.enable(GL.TEXTURE_2D),
    "another unit": lambda gl: [gl.active_texture(GL.TEXTURE1), gl.enable(GL.TEXTURE_2D)],
    "its environment": lambda gl: gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.ADD),
    "alpha": lambda gl: [gl.alpha_func(GL.GREATER, 0.5), gl.enable(GL.ALPHA_TEST)],
    "light": lambda gl: gl.enable(GL.LIGHTING),
    "the part": lambda gl: gl.scissor(0, 0, 10, 10),
    "masks": lambda gl: gl.color_mask(1, 0, 1, 1),
    "a viewport": lambda gl: gl.viewport(0, 0, 32, 32),
    "what ends all that is known": lambda gl: [
        gl.viewport(0, 0, 32, 32),
        gl.point_parameterf(GL.POINT_SIZE_MIN, 1.0),
    ],
}


class Saving(Sprites):
    """States are saved, changed and restored between sprites."""

    def begin(self) -> None:
        gl = self.gl
        gl.color_mask(1, 1, 1, 1)
        gl.viewport(0, 0, 64, 64)
        gl.blend_func(GL.ONE, GL.ONE)
        gl.cull_face(GL.BACK)
        gl.polygon_mode(GL.FRONT_AND_BACK, GL.FILL)
        for unit in (GL.TEXTURE1, GL.TEXTURE0):
            gl.active_texture(unit)
            gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.MODULATE)
            gl.disable(GL.TEXTURE_2D)
        for capability in (GL.CULL_FACE, GL.ALPHA_TEST, GL.LIGHTING):
            gl.disable(capability)
        gl.enable(GL.BLEND)
        gl.clear(GL.COLOR_BUFFER_BIT)

    def sprites(self) -> None:
        gl = self.gl
        for step in range(5):
            gl.scissor(0, 0, 40 + step % 2, 64)
            gl.begin(GL.TRIANGLES)
            for corner in ((0, 0), (0.3, 0), (0.3, 0.4)):
                gl.color4f(0.4, 0.5, 0.75, 0.4)
                gl.tex_coord2f(*corner)
                gl.vertex2f(*corner)
            gl.end()
            gl.translatef(0.01, 0.0, 0.0)

    def run(self) -> list[Any]:
        gl, pictures = self.gl, []
        gl.disable(GL.DEPTH_TEST)
        gl.bind_texture(GL.TEXTURE_2D, self.textures[0])
        for change in STATES.values():
            for groups in GROUPS:
                for _ in range(3):
                    self.begin()
                    self.sprites()
                    gl.push_attrib(groups)
                    change(gl)
                    self.sprites()
                    gl.pop_attrib()
                    self.sprites()
                    gl.load_identity()
                pictures.append(self.look())
        return pictures


class Listing(Old):
    """Lists of many vertices, compiled anew in each frame."""

    def compile(self, number: int, turn: int) -> None:
        gl = self.gl
        gl.new_list(self.lists + number, GL.COMPILE if turn % 3 else GL.COMPILE_AND_EXECUTE)
        if number == 0:
            self.primitives(30)
        elif number == 1:  # more calls than a batch has
            self.primitives(3, 9000)
        elif number == 2:
            self.moved(8, lambda: self.primitives(3))
        elif number == 3:
            for emission in (0.25, 0.75):
                colour = np.array([emission, 0.5, 0.25, 1.0], np.float32)
                gl.materialfv(GL.FRONT, GL.EMISSION, colour)
                self.primitives(20)
        else:
            self.primitives(20)
            gl.call_list(self.lists)
            gl.begin(GL.LINE_LOOP + 100 * (turn == 5))  # an error in the last turn
            for _ in range(70):
                self.vertex()
            gl.end()
        gl.end_list()

    def run(self) -> list[Any]:
        gl, pictures = self.gl, []
        for turn in range(6):
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            for capability in (GL.LIGHTING, GL.COLOR_MATERIAL):
                (gl.enable if self.random.random() < 0.5 else gl.disable)(capability)
            for number in range(LISTS):
                self.compile(number, turn)
            pictures.append(self.look())
            for lists in ((0,), (2, 3), range(LISTS)):
                self.scene(6, tuple(lists))
                pictures.append(self.look())
        return pictures


class Nested(Old):
    """Lists call lists, deeper than is allowed, and so often that there would be many calls."""

    def run(self) -> list[Any]:
        gl, count = self.gl, 100
        first = gl.gen_lists(count + 3)
        for number in range(count):
            gl.new_list(first + number, GL.COMPILE)
            gl.cull_face(self.pick((GL.FRONT, GL.BACK)))
            gl.translatef(0.01, 0.0, 0.0)
            gl.color3f(number / count, 1.0, 0.5)
            self.shape()
            if number < count - 1:
                gl.call_list(first + number + 1)
            gl.end_list()
        for level in range(count, count + 3):
            gl.new_list(first + level, GL.COMPILE)
            gl.enable(GL.BLEND)
            for _ in range(20):
                gl.call_list(first + level - 1)
            gl.end_list()
        pictures = []
        for names in (range(0, count, 7), range(count)[::-1], (count, count + 1) * 6):
            gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
            for name in names:
                gl.scissor(0, 0, 60 + name % 2, 64)
                gl.push_matrix()
                gl.call_list(first + name)
                gl.pop_matrix()
            pictures.append(self.look())
        return pictures
