"""The vocabulary: one term for each idea, in code, comments, documents and pages.

The foot of every lesson, the glossary of the course and `docs/reference/vocabulary.md` are made
from one table (`python -m gallette.lessons`; a test renders the page again).
"""

from __future__ import annotations

import re

__all__ = ["GLOSSARY", "INSTEAD", "page", "words_in"]

GLOSSARY: dict[str, str] = {
    "algebraic rule": "A rewrite of arithmetic, written as two trees: the pattern to find and its"
    " replacement. `~` in front marks a rule that may change rounding.",
    "ALU instruction": "An instruction that computes from values alone (add, compare, select): no"
    " memory, no control flow, no side effects.",
    "application": "The program that calls OpenGL.",
    "atom": "A function of the state tracker that derives one piece of pipe state from OpenGL"
    " state. It runs if one of its dirty bits is set.",
    "back-end": "The part of a compiler that knows one machine: it selects instructions, gives"
    " values registers, and schedules.",
    "barycentrics": "Three weights that say where in a triangle a fragment lies. An `in` of the"
    " fragment shader is its three vertices' values weighed with them.",
    "basic block": "Instructions that run one after the other, without a jump into or out of the"
    " middle. NIR's control flow is a tree of blocks, ifs and loops.",
    "batch": "The commands or pending draws between two flushes.",
    "binning": "Sorting primitives by the tiles of the screen they touch, so that each tile is"
    " shaded from fast memory in one go.",
    "blit": "A copy between images that may scale, convert or resolve.",
    "budget": "The work that a draw or dispatch may do. Past it the context is lost, so that no"
    " shader runs for ever.",
    "buffer object": "For the driver: a piece of memory the kernel manages, with an address on the"
    " device. GL's buffers and textures lie in such objects.",
    "cap": "A driver's declaration of what it can do. What it cannot, the state tracker does for"
    " it (lowers it) before handing a shader over.",
    "capture": "A file with every OpenGL call of a run, its arguments and the memory they point"
    " to. `gallette replay` makes the calls again.",
    "clone": "A copy of a shader, made when one of two owners changes it.",
    "command": "One recorded OpenGL call of the command stream: a number for the function, and its"
    " arguments.",
    "command stream": "OpenGL calls as commands in a ring, executed in batches."
    " `GALLETTE_STREAM=off` executes every call at once.",
    "constant buffer": "The pipe's word for a uniform buffer. Number 0 holds the uniforms outside"
    " of blocks.",
    "constant folding": "Computing at compile time what depends on constants only.",
    "copy-on-write": "Copying a storage that pending draws read before the application writes to"
    " it.",
    "coverage": "Which pixels (or samples) a primitive touches. The rasterizer computes it.",
    "CSE": "Common sub-expression elimination: what was computed before is not computed again.",
    "culling": "Dropping primitives that face the wrong way.",
    "DCE": "Dead code elimination: removing instructions whose results have no use.",
    "deref": "An instruction that says *where*, not what: a variable, then an array element, then"
    " a struct member. Loads and stores go through such chains.",
    "dirty bit": "A bit that says that a piece of OpenGL state has changed since pipe state was"
    " derived from it.",
    "dispatch": "A launch of a compute shader.",
    "divergence": "Lanes of one group that disagree: about a value, or about where to go. A"
    " uniform of GL is never divergent; a varying nearly always is.",
    "dominance": "Block A dominates B if every way to B leads through A. A value may be used only"
    " where its definition dominates.",
    "draw": "An OpenGL call that renders primitives, or what the pipe makes of it: one `DrawInfo`.",
    "driver": "The part that turns calls of the pipe interface into pixels. `native` is the"
    " machine's own OpenGL.",
    "early z": "Testing depth before the fragment shader runs, if the shader cannot change the"
    " result of the test.",
    "execution mask": "Which lanes of a SIMD group take part in an instruction.",
    "executor": "The part of a driver that executes a batch of pending draws.",
    "fast path": "Code for a common special case that gives the same result as the general code,"
    " only faster.",
    "ffma": "Fused multiply-add: `a * b + c` rounded once instead of twice.",
    "fixed function": "What OpenGL 1 did without shaders. Here it is generated shaders and state.",
    "flush": "Executing everything that is pending.",
    "fragment": "A pixel (or sample) that a primitive covers, on its way through the fragment"
    " shader and the tests.",
    "front end": "The part of a compiler that knows one language: parses, checks, makes NIR.",
    "Gallium": "The design this stack follows: a state tracker that knows the API, drivers that"
    " know the machine, and a small interface (pipe) between them.",
    "golden image": "A picture in the repository of a test suite, with which later pictures are"
    " compared.",
    "helper lane": "A fragment that runs only so that its neighbours in the quad can compute"
    " derivatives. Its results are discarded.",
    "hierarchical depth": "The nearest and farthest depth of blocks of pixels. Hidden rows of"
    " primitives are dropped by it before they become fragments.",
    "inexact": "Of a rule or pass: results may differ in rounding. `precise` and `invariant`"
    " forbid it.",
    "interference": "Two values interfere if their live ranges overlap. They cannot share a"
    " register.",
    "interpolation": "Computing a varying at a fragment from its values at the vertices.",
    "intrinsic": "An instruction that is not arithmetic: a load, a store, a barrier, a system"
    " value. Printed with `@` in front.",
    "invariance": "The same expression gives the same bits wherever it stands. GL promises it for"
    " the same program with the same state, and for what is declared `invariant`.",
    "ISA": "Instruction set architecture: the instructions a machine has, and their encoding.",
    "lane": "One invocation among many that run together. In NumPy code, one element of an array.",
    "layering": "Splitting fragments into groups with at most one fragment per pixel, so that"
    " blending happens in drawing order.",
    "linker": "The part behind `glLinkProgram`: it matches stages, assigns locations, and makes"
    " one NIR shader for each stage.",
    "live range": "The instructions from a value's definition to its last use.",
    "lowering": "Replacing operations that the target does not have by operations that it has.",
    "merge key": "What two pending draws must have in common to be executed as instances of one"
    " draw.",
    "mode": "Of a deref or variable: the kind of memory (input, output, uniform, storage buffer,"
    " shared, local).",
    "native": "The machine's own OpenGL, called through EGL.",
    "NIR": "The intermediate representation of shaders: SSA values, structured control flow,"
    " derefs. Everything is lowered and optimised in it.",
    "null key": "The variant key of a draw that asks for nothing special.",
    "page table": "The tables that translate an address of a program into a place in memory, a"
    " page at a time.",
    "pass": "A function that changes a shader and returns whether it did. A pass of a scene is one"
    " of its pictures.",
    "pending draw": "A draw that the driver has accepted and not executed yet. It has a snapshot"
    " of its state.",
    "phi": "An instruction at the start of a block whose value depends on the block that control"
    " flow came from.",
    "pipe": "The interface between state tracker and driver, after Gallium's: create and bind"
    " state, draw, copy.",
    "pipe state": "State as the driver sees it: a few immutable objects (blend, rasterizer,"
    " depth-stencil-alpha, samplers) made from hundreds of GL settings.",
    "pixel order": "Executing pending draws of several states so that each pixel gets its"
    " fragments in drawing order.",
    "probe": "A line of a shader_test that compares pixels with expected values.",
    "provoking vertex": "The vertex whose value a flat-shaded primitive takes.",
    "quad": "Two by two fragments that run together, for derivatives.",
    "query object": "An OpenGL object that counts samples or primitives, or measures time.",
    "rasterizer": "Turns primitives into fragments: which pixels, with which depth and inputs.",
    "reference count": "The number of owners of a shader or resource. When the last one releases"
    " it, it is destroyed.",
    "register allocation": "Deciding which register holds each value.",
    "render target": "An image that draws write to.",
    "resolve": "Computing one value per pixel from the samples of a multisampled image.",
    "resource": "The pipe's word for buffers, textures and renderbuffers: memory with a format.",
    "ring": "The memory that holds the commands of a batch.",
    "scene": "A moderngl script that yields pictures, one per pass (`gallette/scenes`).",
    "scoreboard": "Hardware that delays an instruction until the registers that it reads have been"
    " written.",
    "screen": "The pipe's word for a driver instance: it creates contexts and resources and has"
    " the caps.",
    "share group": "Contexts that share objects. One of them runs a call at a time.",
    "shader_test": "A text file with shaders, commands such as draws, and expected pixels;"
    " piglit's format.",
    "SIMD": "Single instruction, multiple data: one instruction works on many lanes.",
    "snapshot": "The state that a pending draw was made with.",
    "span": "The covered pixels of a primitive in one row.",
    "spilling": "Keeping a value in memory because no register is free.",
    "SPIR-V": "The binary shader format of Khronos, which OpenGL, Vulkan and OpenCL take.",
    "SSA": "Static single assignment: every value has exactly one definition. Phis stand where"
    " control flow joins.",
    "state object": "An immutable piece of pipe state that the driver has prepared, such as a"
    " blend state.",
    "state tracker": "The part that implements OpenGL: objects, errors and bindings. It calls the"
    " driver through the pipe.",
    "storage": "The memory of a buffer or texture. Writing may replace it, and pending draws keep"
    " the old one.",
    "swizzle": "A choice of components: `v.xxy`.",
    "tap": "A function that observes a stream of commands or draws without changing what runs.",
    "texel": "A pixel of a texture.",
    "tile": "A rectangle of the framebuffer that is rendered in one go.",
    "transfer": "A mapping of a resource for the CPU to read or write.",
    "transform feedback": "Writing the vertices of a draw to buffers. The pipe calls it stream"
    " output.",
    "use list": "The list of instructions that read a value. `is_used_once` asks for its length.",
    "validation": "Checking that a shader is well formed. In the state tracker: running the atoms"
    " before a draw.",
    "variant": "The code of a shader for one set of bound state.",
    "variant key": "The part of bound state that is compiled into a variant.",
    "varying": "A value the vertex shader writes and the fragment shader reads, interpolated.",
    "vectorisation": "Turning operations on single components into operations on vectors; its"
    " opposite is scalarisation.",
    "worklist": "The instructions that a rewriter has yet to look at.",
    "wrap mode": "What a sampler does with coordinates outside of the texture: repeat, mirror or"
    " clamp.",
}

INSTEAD: dict[str, str] = {
    "draws that wait, postponed work": "pending draws",
    "state, things, of draws that wait": "snapshot",
    "relatives, family, kin of a draw": "draws with an equal merge key",
    "to settle, to hand on, to catch up": "to flush",
    "to let go of, to give back": "to release",
    "who holds it, somebody keeps it": "an owner, a reference",
    "behind the call, behind the loop": "after the call, after the loop",
    "nobody reads it": "it has no use; it is dead",
    "what is known of, memory of, remembered": "cache, cached",
    "in turn, have their turn": "one after the other, alternately",
    "to ask, a question": "to query; a predicate, a helper function",
    "channels or lanes that wait": "inactive lanes",
    "a shader's way": "how a shader compiles",
    "the way of a draw": "the path of a draw through the layers",
}
"""Words of earlier versions, and the term that took their place."""


_EVERYDAY = {
    "application",
    "command",
    "draw",
    "driver",
    "fast path",
    "native",
    "probe",
    "scene",
    "tile",
}
"""Terms that a page need not explain to its readers."""


def words_in(text: str) -> list[str]:
    """The terms that a text uses, in alphabetical order."""
    found = []
    for word in GLOSSARY.keys() - _EVERYDAY:
        plural = "(?:es)?" if word.endswith("s") else "s?"
        flags = 0 if word.isupper() else re.I
        if re.search(rf"(?<![\w/-]){re.escape(word)}{plural}(?![\w/-])", text, flags):
            found.append(word)
    return sorted(found, key=str.lower)


def page() -> str:
    """The text of `docs/reference/vocabulary.md`."""
    lines = [
        "<!-- Generated by `python -m gallette.lessons`; do not edit. -->",
        "# Vocabulary",
        "",
        "One term for each idea, taken from OpenGL, Gallium, NIR, Vulkan and compiler textbooks. "
        "Code, comments, documents",
        "and pages use these; an idea that has no term gets one here first.",
        "",
    ]
    lines += [f"- **{word}**: {GLOSSARY[word]}" for word in sorted(GLOSSARY, key=str.lower)]
    lines += [
        "",
        "## Words to avoid",
        "",
        "A sentence names its actor (the application, the state tracker, the executor, a pass) "
        "and has a verb.",
        "",
        "| instead of | write |",
        "|---|---|",
    ]
    lines += [f"| {before} | {after} |" for before, after in INSTEAD.items()]
    return "\n".join(lines) + "\n"
