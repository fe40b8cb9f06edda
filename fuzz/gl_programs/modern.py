"""Programs of the newer stages: tessellation, geometry, pipelines, images, storage, layers."""

from __future__ import annotations

from fuzz.gl_programs.common import SIZE
from fuzz.gl_programs.kind import Kind
from fuzz.gl_programs.shaders import SAMPLED, names
from fuzz.gl_programs.writer import Writer

__all__ = ["MODERN", "generate_modern"]

WHOLE_VIEWS = f"[gl.viewport_indexedf(i, 0.0, 0.0, {SIZE}, {SIZE}) for i in range(2)]"

MODERN: Kind[Modern] = Kind(
    ("modern",),
    [
        "gl.bind_program_pipeline(0)",
        "gl.patch_parameteri(GL.PATCH_VERTICES, 3)",
        "gl.bind_image_texture(0, 0, 0, 0, 0, GL.READ_ONLY, GL.R32UI)",
        "[gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, i, 0) for i in range(2)]",
        "[gl.bind_buffer_base(GL.UNIFORM_BUFFER, i, 0) for i in range(2)]",
        "gl.bind_textures(0, 2, np.zeros(2, 'u4')); gl.bind_samplers(0, 2, np.zeros(2, 'u4'))",
        "gl.disable(GL.PRIMITIVE_RESTART_FIXED_INDEX)",
    ],
)


def generate_modern(w: Writer, steps: int) -> None:
    """A program of the newer stages."""
    kind = w.r.choice(["2d", "2d", "array", "cube"])
    samples = 4 if kind == "2d" and w.often(0.3) else 0
    w.say(
        "; ".join(  # one line: the native library survives no draw without them
            [
                f"gl.active_texture(GL.TEXTURE8); gl.clear_color({w.quarters()})",
                f"target = new.target({kind!r}, {samples}, {w.often(0.5)})",
                "counts = new.counts()",
                "gl.bind_image_texture(0, counts, 0, 0, 0, GL.READ_WRITE, GL.R32UI)",
                f"vertices = w.storage(w.vertices({w.seed()}, 24)); array = w.array(vertices)",
                "gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 0, vertices)",
                "sums = w.storage(np.zeros(32, 'u4'))",
                "gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 1, sums)",
                f"blocks = w.storage(new.colors({w.seed()}))",
                "gl.bind_buffer_range(GL.UNIFORM_BUFFER, 0, blocks, 0, 64)",
                "gl.bind_buffer_range(GL.UNIFORM_BUFFER, 1, blocks, 256, 64)",
                "indices = w.storage(np.array([2, 1, 0, 5, 3, 4, 65535, 7, 8, 6, 9, 11], 'u2'))",
                "gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, indices)",
            ]
        )
    )
    made = Modern(w, samples)
    made.use()
    MODERN.walk(w, made, steps)
    w.say(
        f"see.layers(target, {kind!r}, {samples})",
        "see.counts(counts); see.words(sums, 128, 'i4'); see.words(vertices, 960, 'f4')",
    )


class Modern:
    """What is in use while steps are written."""

    def __init__(self, w: Writer, samples: int) -> None:
        self.w = w
        self.samples = samples
        self.patches = False
        self.fragment = ""
        self.choice = ""  # of a subroutine, which a program forgets that comes into use again
        self.points = False
        self.numbered = False  # a query counts primitives

    def use(self) -> None:
        """Another program, or a pipeline, with a texture that its fragment shader reads."""
        w = self.w
        vertex = w.r.choice(["arrays", "arrays", "pulled", "doubles"])
        evaluation = w.r.choice(["", "", "", *names("tess_evaluation")])
        geometry = w.r.choice(["", "", *names("geometry")]) if evaluation != "points" else ""
        fragment = w.r.choice(["color", *names("fragment")])
        if evaluation and geometry == "some":  # llvmpipe numbers triangles instead of patches
            geometry = "layers"
        if evaluation and self.samples and fragment in ("counted", "early", "summed"):
            fragment = "color"  # how often an edge is shaded depends on where the edges are
        if fragment == "numbered" and (evaluation or not geometry):  # no other stage writes a layer
            fragment = "color"
        self.patches, self.fragment = bool(evaluation), fragment
        self.points = "points" in (evaluation, geometry)
        self.numbered = geometry == "some" or fragment == "numbered"
        name = w.fresh("program")
        stages_of = f"{vertex!r}, {evaluation!r}, {geometry!r}, {fragment!r}"
        self.choice = ""
        if w.often(0.3) and fragment != "chosen":  # which pipelines forget
            said = [
                f"{name} = new.pipeline({stages_of}); gl.use_program(0)",
                f"gl.bind_program_pipeline({name}); new.set_all({name}, 1, {w.quarters()})",
            ]
        else:
            said = [
                f"{name} = new.program({stages_of}); gl.use_program({name})",
                f"new.set({name}, 1, {w.quarters()})",
            ]
            if fragment == "chosen":
                self.choice = f"new.choose({name}, {w.choice('plain', 'turned')!r})"
                said.append(self.choice)
        if fragment in SAMPLED:
            said.append(f"gl.bind_texture_unit(0, new.texture({SAMPLED[fragment]!r}, {w.seed()}))")
        w.say("; ".join(said))


@MODERN.step(5)
def another(m: Modern) -> None:
    m.use()


@MODERN.step(10)
def draw(m: Modern) -> None:
    w = m.w
    mode = "GL.PATCHES" if m.patches else w.pick(("TRIANGLES", "TRIANGLES", "TRIANGLE_STRIP"))
    count, first = w.r.choice([3, 6, 9]), w.choice(0, 3, 6)
    kind = w.number(6)
    if kind < 2:
        call = f"gl.draw_arrays({mode}, {first}, {count})"
    elif kind == 2:
        call = f"gl.draw_arrays_instanced_base_instance({mode}, {first}, 3, 2, {w.number(2)})"
    elif kind == 3:
        # (It is for each implementation to say whether patches know where to begin anew.)
        restart, offset = ("disable", 0) if m.patches else ("enable", w.choice(0, 6))
        call = (
            f"gl.{restart}(GL.PRIMITIVE_RESTART_FIXED_INDEX); "
            f"gl.draw_elements_base_vertex({mode}, {min(count, 6) if m.patches else count}, "
            f"GL.UNSIGNED_SHORT, {offset}, {w.number(4)})"
        )
    elif kind == 4 and not m.numbered:  # llvmpipe counts on from draw to draw
        call = (
            f"gl.multi_draw_arrays({mode}, np.array([{first}, 3], 'i4'), np.array([3, 6], 'i4'), 2)"
        )
    else:
        call = f"w.indirect([3, 2, {first}, 0], lambda: gl.draw_arrays_indirect({mode}, 0))"
    if m.samples:  # which llvmpipe lets out of it
        call = f"[gl.disablei(GL.SCISSOR_TEST, i) for i in range(2)]; {call}"
    if m.points:  # llvmpipe cuts them off at the viewport's edge
        call = f"{WHOLE_VIEWS}; {call}"
    w.draws += 1
    # What was written is seen by everybody; images are, of one fragment at a time, in no order.
    w.say(f"see.blended(); gl.memory_barrier(GL.ALL_BARRIER_BITS); {call}")


@MODERN.step(2)
def dispatch(m: Modern) -> None:
    w = m.w
    kernel, name = w.r.choice(names("compute")), w.fresh("kernel")
    groups = {"filled": "3, 2, 1", "shared": "4, 1, 1", "moved": "2, 1, 1"}[kernel]
    back = "gl.get_integerv(GL.CURRENT_PROGRAM)[0]"
    w.say(
        f"before = {back}; {name} = new.kernel({kernel!r}); new.set({name}, 1, {w.quarters()}); "
        f"gl.memory_barrier(GL.ALL_BARRIER_BITS); gl.use_program({name}); "
        f"gl.dispatch_compute({groups}); gl.memory_barrier(GL.ALL_BARRIER_BITS); "
        "gl.use_program(before)" + (f"; {m.choice}" if m.choice else "")
    )


@MODERN.step(8)
def state(m: Modern) -> None:
    m.w.say(MODERN.change(m.w))


@MODERN.step(3)
def memory(m: Modern) -> None:
    """Buffers and images change between draws."""
    w = m.w
    w.say("gl.memory_barrier(GL.ALL_BARRIER_BITS); " + _change(w))


def _change(w: Writer) -> str:
    kind, value = w.number(7), f"np.array([{w.number(64)}], 'u4')"
    if kind == 0:
        at = w.choice(0, 64, 256)
        return f"gl.bind_buffer_range(GL.UNIFORM_BUFFER, {w.number(2)}, blocks, {at}, 64)"
    if kind == 1:
        at, data = w.choice(0, 64, 256), f"new.colors({w.seed()})[:16].copy()"
        return f"gl.named_buffer_sub_data(blocks, {at}, 64, {data})"
    if kind == 2:
        at, data = w.choice(0, 120), f"w.vertices({w.seed()}, 6)"
        return f"gl.named_buffer_sub_data(vertices, {at}, 240, {data})"
    if kind == 3:
        return f"gl.clear_tex_image(counts, 0, GL.RED_INTEGER, GL.UNSIGNED_INT, {value})"
    if kind == 4:
        what = "GL.R32UI, GL.RED_INTEGER, GL.UNSIGNED_INT"
        return f"gl.clear_named_buffer_data(sums, {what}, {value})"
    if kind == 5:
        return "gl.copy_named_buffer_sub_data(vertices, vertices, 0, 480, 240)"
    return (
        "other = new.counts(); gl.copy_image_sub_data(counts, GL.TEXTURE_2D, 0, 0, 0, 0, "
        "other, GL.TEXTURE_2D, 0, 2, 2, 0, 6, 5, 1); see.counts(other)"
    )


@MODERN.step(1)
def look(m: Modern) -> None:
    m.w.say("see.counts(counts); see.words(sums, 128, 'i4')")
