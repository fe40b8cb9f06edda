"""Pixels that move: uploads and reads with every layout in memory, copies, blits, clears."""

from __future__ import annotations

from fuzz.gl_programs import tables as t
from fuzz.gl_programs.writer import PLAIN, Target, Texture, Writer

BITS = (
    "GL.COLOR_BUFFER_BIT",
    "GL.DEPTH_BUFFER_BIT",
    "GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT",
    "GL.STENCIL_BUFFER_BIT",
    "GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT",
)
FIELDS = {"i": ("iv", "i4"), "u": ("uiv", "u4"), "f": ("fv", "f4")}


@PLAIN.step(3)
def clear(w: Writer) -> None:
    target = w.target
    if w.often(0.6) and target.kind == "f":
        w.say(
            f"gl.clear_color({w.quarters()})",
            f"gl.clear_depth({w.choice(1.0, 0.5, 0.75)})",
            f"gl.clear_stencil({w.choice(0, 1, 5, 128)})",
            f"gl.clear({w.r.choice(BITS)})",
        )
    elif target.stencil and w.often(0.3):
        w.say(f"gl.clear_bufferfi(GL.DEPTH_STENCIL, 0, {w.quarter()}, {w.number(256)})")
    else:
        suffix, dtype = FIELDS[target.kind]
        values = (
            w.quarters() if target.kind == "f" else str([w.number(100) for _ in range(4)])[1:-1]
        )
        index = w.number(len(target.colors))
        w.say(f"gl.clear_buffer{suffix}(GL.COLOR, {index}, np.array([{values}], {dtype!r}))")


def clear_part(w: Writer) -> None:
    """Clear the buffers in a small rectangle."""
    x, y, width, height = w.number(28), w.number(28), 1 + w.number(12), 1 + w.number(12)
    w.say(f"gl.enable(GL.SCISSOR_TEST); gl.scissor({x}, {y}, {width}, {height})")
    clear(w)
    w.say("gl.disable(GL.SCISSOR_TEST)")


def store(w: Writer, side: str) -> str:
    """Pixel storage in force for one line."""
    choices = {"ROW_LENGTH": (0, 0, 5, 9), "SKIP_ROWS": (0, 0, 1), "SKIP_PIXELS": (0, 0, 2)}
    choices |= {"ALIGNMENT": (1, 2, 4, 8), "SWAP_BYTES": (0, 0, 1)}
    chosen = {name: w.choice(*values) for name, values in choices.items()}
    if chosen["SWAP_BYTES"]:  # where Mesa swaps, it loses pixels behind skipped or padded ones
        chosen = {"SWAP_BYTES": 1}
    return f"with w.store({side!r}, " + ", ".join(f"{k}={v}" for k, v in chosen.items() if v) + ")"


@PLAIN.step(3)
def upload(w: Writer) -> None:
    """Part of a texture, from bytes in some layout, or from a buffer."""
    usable = [x for x in w.textures if x.of is None and x.kind == "2d"]
    if not usable:
        return
    texture: Texture = w.r.choice(usable)
    w.bind(texture)
    given = t.TRANSFERS
    if texture.format in t.FEW_BITS:
        given = tuple(one for one in given if one[1] not in t.OTHER_STEPS)
    format, type = w.r.choice(given)
    storage, source = store(w, "UNPACK"), f"w.bytes({w.seed()}, 1024)"
    if w.often(0.3):
        name, source = w.fresh("pixels"), "0"
        w.say(f"{name} = w.pixels({w.seed()}, 1024)")
        storage += f", w.bound(GL.PIXEL_UNPACK_BUFFER, {name})"
    x, y = w.number(2), w.number(2)
    w.say(
        f"{storage}: gl.tex_sub_image2d(GL.TEXTURE_2D, 0, {x}, {y}, 3, 2, GL.{format}, "
        f"GL.{type}, {source})"
    )


@PLAIN.step(2)
def read(w: Writer) -> None:
    """Pixels into a buffer, in some layout; all of its bytes are seen."""
    target = w.target
    if target.samples or target.kind != "f":
        return
    index = w.number(len(target.colors))
    # Whole bytes of one channel each: a step of rounding is a step of the byte.
    # In ES, RGB8 may be read as RGB or not, as the implementation says (16.1.2).
    formats = ("RGBA", "BGRA", "RED") if w.es else ("RGBA", "BGRA", "RED", "RGB")
    format, x, y = w.pick(formats), w.number(8), w.number(8)
    w.say(f"{store(w, 'PACK')}: see.packed({format}, {x}, {y}, {index})")


@PLAIN.step(3)
def copy(w: Writer) -> None:
    target = w.target
    if target.samples:
        return
    # Data of a coarser format stays coarse in another one, which must have its steps.
    finest = min(_step(f) for f in target.colors)
    others = [
        x
        for x in w.targets
        if x is not target and x.kind == target.kind and _step(x.colors[0]) <= finest
    ]
    kind = w.number(3)
    if others and kind < 2:
        blit(w, w.r.choice(others))
        return
    usable = [
        x
        for x in w.textures
        # Of two steps as near as the other either may be taken: half a colour in one bit. Who
        # samples the texture would carry the larger steps of either format into finer ones.
        if x.of is None and x.kind == "2d" and _step(x.format) <= 1
    ]
    if usable and target.kind == "f" and _step(target.colors[0]) <= 1:
        w.bind(w.r.choice(usable))
        w.say(
            "gl.read_buffer(GL.COLOR_ATTACHMENT0)",
            f"gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, {w.number(8)}, {w.number(8)}, 4, 4)",
        )


def _step(format: str) -> int:
    return t.COLOR_FORMATS.get(format, 0)


def blit(w: Writer, source: Target) -> None:
    target = w.target
    boxes = ["0, 0, 32, 32, 0, 0, 32, 32"]
    if not source.samples:
        boxes += ["0, 0, 16, 16, 8, 8, 24, 24", "0, 0, 32, 32, 32, 0, 0, 32"]
        boxes += ["0, 0, 16, 16, 0, 0, 32, 32", "0, 0, 32, 32, 0, 32, 32, 0"]
    bits = "GL.COLOR_BUFFER_BIT"
    if source.depth and source.depth == target.depth and w.often(0.5):
        bits = "GL.DEPTH_BUFFER_BIT"
        if source.stencil:
            bits = f"GL.STENCIL_BUFFER_BIT{w.choice('', ' | ' + bits)}"
    # One line: without its first, a framebuffer would be copied onto itself.
    w.say(
        f"gl.bind_framebuffer(GL.READ_FRAMEBUFFER, {source.name}); "
        "gl.read_buffer(GL.COLOR_ATTACHMENT0); "
        f"gl.blit_framebuffer({w.r.choice(boxes)}, {bits}, GL.NEAREST); "
        f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})",
    )


@PLAIN.step(1)
def look(w: Writer) -> None:
    """Everything that is in the bound framebuffer."""
    target = w.target
    if target.samples:
        resolve = w.fresh("resolve")
        w.say(
            "gl.disable(GL.SCISSOR_TEST)",
            f"{resolve} = w.target([GL.RGBA8], None)",
            f"gl.bind_framebuffer(GL.READ_FRAMEBUFFER, {target.name})",
            "gl.read_buffer(GL.COLOR_ATTACHMENT0)",
            "gl.blit_framebuffer(0, 0, 32, 32, 0, 0, 32, 32, GL.COLOR_BUFFER_BIT, GL.NEAREST)",
            f"gl.bind_framebuffer(GL.FRAMEBUFFER, {resolve})",
            f"see.color(0, {target.name})",
            f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})",
        )
        return
    for index in range(len(target.colors)):
        if target.kind == "f":
            w.say(f"see.color({index})")
        else:
            w.say(f"see.integers({index}, {target.kind!r})")
    if target.depth:
        w.say("see.depth()")
    if target.stencil:
        w.say("see.stencil()")
