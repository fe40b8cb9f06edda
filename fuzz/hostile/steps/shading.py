"""Programs: linked, used, given uniforms and what their shaders look for; dispatched; deleted."""

from __future__ import annotations

from ..stages import Program, graphics, kernel
from ..tables import ACCESSES, IMAGE_FORMATS, names
from ..writer import Linked, Writer, step
from .buffers import new_buffer
from .textures import bind_everywhere, new_texture

__all__ = ["new_kernel", "new_program", "use"]


def _sources(program: Program) -> str:
    return ",\n    ".join(f'{stage}="""{text}"""' for stage, text in program.sources.items())


def _linked(w: Writer, program: Program, name: str, separate: bool = False) -> Linked:
    call = "pipeline" if separate else "program"
    captured = ""
    if program.captured and not separate:
        mode = w.pick(names("INTERLEAVED_ATTRIBS SEPARATE_ATTRIBS"))
        if any(n.startswith("gl_Skip") or n == "gl_NextBuffer" for n in program.captured):
            mode = "GL.INTERLEAVED_ATTRIBS"
        captured = f"{program.captured!r}, {mode}, "
    w.say(f"{name} = h.{call}({captured}{_sources(program)})")
    return Linked(name, program, separate)


def new_program(w: Writer) -> Linked:
    """A program to draw with, in use."""
    made = _linked(w, graphics(w.r, w.known()), w.fresh("p"), w.often(0.08))
    w.programs.append(made)
    use(w, made)
    return made


def new_kernel(w: Writer) -> Linked:
    made = _linked(w, kernel(w.r, w.known()), w.fresh("k"))
    w.kernels.append(made)
    _ready(w, made)
    return made


def use(w: Writer, made: Linked) -> None:
    w.used = made
    if made.pipeline:
        w.say(f"gl.use_program(0); gl.bind_program_pipeline({made.name})")
    else:
        w.say(f"gl.use_program({made.name})")
    _ready(w, made)


def _ready(w: Writer, made: Linked) -> None:
    """Uniforms, and what its shaders look for (most of it)."""
    if not made.pipeline:
        for letter in made.program.uniforms:
            uniforms(w, made.name, letter)
    if made.program.patches and w.often(0.9):
        w.say(f"gl.patch_parameteri(GL.PATCH_VERTICES, {w.r.choice((1, 2, 3, 3, 4, 32))})")
    for need in made.program.needs:
        if not w.often(0.85):
            continue
        if need.kind == "sampler":
            bind_everywhere(w, need.first, need.count, need.target, need.texels)
        elif need.kind == "image":
            for unit in range(need.first, need.first + need.count):
                _bind_image(w, unit, need.target, need.texels)
        else:
            for index in range(need.first, need.first + need.count):
                b = w.r.choice(w.buffers) if w.often(0.8) else new_buffer(w)
                w.say(f"gl.bind_buffer_base(GL.{need.kind}, {index}, {b.name})")


def _bind_image(w: Writer, unit: int, target: str, format: str) -> None:
    fits = [made for made in w.textures if made.target == target and made.format == format]
    made = w.r.choice(fits) if fits and w.often(0.7) else None
    if made is None:
        made = new_texture(w, target, format if format in IMAGE_FORMATS else "RGBA8")
    layered = w.r.choice((1, 1, 0))
    w.say(
        f"gl.bind_image_texture({unit}, {made.name}, 0, {layered}, 0, {w.pick(ACCESSES)}, "
        f"GL.{format})"
    )


def uniforms(w: Writer, name: str, letter: str) -> None:
    """Numbers for a stage."""
    for call, uniform, count, data in (
        ("4fv", "floats", 3, f"h.floats({w.seed()}, 12)"),
        ("4iv", "ints", 4, f"h.ints({w.seed()}, 16)"),
        ("_matrix3x4fv", "matrices", 2, f"h.floats({w.seed()}, 24)"),
        ("2dv", "doubles", 2, f"h.doubles({w.seed()}, 4)"),
        ("1i64v_arb", "long", 1, f"h.ints({w.seed()}, 2).view('i8')"),
    ):
        if uniform in ("floats", "ints") or w.often(0.3):
            turned = "0, " if "matrix" in call else ""
            w.say(
                f"gl.program_uniform{call}({name}, gl.get_uniform_location({name}, "
                f"'u_{uniform}_{letter}'), {count}, {turned}{data})"
            )


@step(3)
def another(w: Writer) -> None:
    if len(w.programs) < 4:
        new_program(w)


@step(2)
def another_kernel(w: Writer) -> None:
    if len(w.kernels) < 3:
        new_kernel(w)


@step(4)
def used(w: Writer) -> None:
    if w.programs:
        use(w, w.r.choice(w.programs))


@step(5)
def with_other_uniforms(w: Writer) -> None:
    made = w.used
    if made is not None and not made.pipeline:
        uniforms(w, made.name, w.r.choice(made.program.uniforms))


@step(8)
def dispatched(w: Writer) -> None:
    if not w.kernels:
        new_kernel(w)
    made = w.r.choice(w.kernels)
    variable = "local_size_variable" in made.program.sources["COMPUTE"]
    groups = [w.r.choice((1, 1, 2, 3)) for _ in range(3)]
    if w.often(0.01):
        groups[w.r.randrange(3)] = w.r.choice((0, 65535, 65536, 1 << 31))
    back = f"gl.use_program({w.used.name if w.used and not w.used.pipeline else 0})"
    text = ", ".join(map(str, groups))
    if variable and w.often(0.9):
        size = ", ".join(str(w.r.choice((1, 2, 4, 7))) for _ in range(3))
        call = f"gl.dispatch_compute_group_size_arb({text}, {size})"
    elif w.often(0.25):
        b = w.buffer()
        call = (
            f"gl.bind_buffer(GL.DISPATCH_INDIRECT_BUFFER, {b.name}); "
            f"gl.dispatch_compute_indirect({w.offset(b.size)})"
        )
        if w.often(0.8):
            b = new_buffer(w, 64)
            w.say(f"gl.named_buffer_sub_data({b.name}, 0, 64, h.groups({w.seed()}, 16))")
            call = (
                f"gl.bind_buffer(GL.DISPATCH_INDIRECT_BUFFER, {b.name}); "
                f"gl.dispatch_compute_indirect({w.r.choice((0, 4, 20, 52, 56))})"
            )
    else:
        call = f"gl.dispatch_compute({text})"
    barrier = "gl.memory_barrier(GL.ALL_BARRIER_BITS); " if w.often(0.5) else ""
    w.say(f"gl.use_program({made.name}); {call}; {barrier}{back}")


@step(1)
def subroutines(w: Writer) -> None:
    made = w.used
    if made is not None and not made.pipeline and "subroutine" in str(made.program.sources):
        stage = w.r.choice([*made.program.sources])
        count = w.r.choice((2, 4))
        indices = [w.r.choice((0, 1, 1, 7)) for _ in range(count)]
        w.say(f"gl.uniform_subroutinesuiv(GL.{stage}_SHADER, {count}, np.array({indices}, 'u4'))")


@step(1)
def deleted(w: Writer) -> None:
    """Even the one in use, which goes on to be used."""
    if len(w.programs) > 1:
        made = w.r.choice(w.programs)
        if not made.pipeline:
            w.say(f"gl.delete_program({made.name})")
            w.programs.remove(made)


@step(1)
def kept(w: Writer) -> None:
    """A program's binary, given back: as it was, or with some bytes changed."""
    made = w.used
    if made is not None and not made.pipeline:
        w.say(f"h.reload({made.name}, {w.seed() if w.often(0.5) else 0})")


@step(1)
def barriers(w: Writer) -> None:
    w.say(
        w.pick(
            (
                "gl.memory_barrier(GL.ALL_BARRIER_BITS)",
                "gl.texture_barrier()",
                "gl.memory_barrier_by_region(GL.SHADER_IMAGE_ACCESS_BARRIER_BIT)",
                "gl.finish()",
                "gl.flush()",
            )
        )
    )
