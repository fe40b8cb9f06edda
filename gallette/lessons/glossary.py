"""Words of this stack, for people who know OpenGL and not what is below it.

One table: the foot of every lesson, the glossary of the course and `docs/reference/glossary.md` are
made from it (`python -m gallette.lessons`; a test renders the page again).
"""

from __future__ import annotations

import re

__all__ = ["GLOSSARY", "page", "words_in"]

GLOSSARY: dict[str, str] = {
    "algebraic rule": "A rewrite of arithmetic, written as two trees: what to look for, and what to"
    " put in its place. `~` in front marks a rule that may change rounding.",
    "ALU instruction": "An instruction that computes from values alone (add, compare, select): no"
    " memory, no control flow, no side effects.",
    "back-end": "The part of a compiler that knows one machine: it selects instructions, gives"
    " values registers, and schedules.",
    "barycentrics": "Three weights that say where in a triangle a fragment lies. An `in` of the"
    " fragment shader is its three vertices' values weighed with them.",
    "basic block": "Instructions without a jump into or out of their middle. NIR's control flow is"
    " a tree of blocks, ifs and loops.",
    "binning": "Sorting primitives by the tiles of the screen they touch, so that each tile is"
    " shaded from fast memory in one go.",
    "buffer object": "For the driver: a piece of memory the kernel manages, with an address on the"
    " device. GL's buffers and textures lie in such objects.",
    "cap": "A driver's declaration of what it can do. What it cannot, the state tracker does for it"
    " (lowers it) before handing a shader over.",
    "clone": "A private copy of a shader, for when two parties want different things from one.",
    "constant folding": "Computing at compile time what depends on constants only.",
    "coverage": "Which pixels (or samples) a primitive touches. The rasterizer computes it.",
    "CSE": "Common sub-expression elimination: what was computed before is not computed again.",
    "DCE": "Dead code elimination: what nobody uses goes.",
    "deref": "An instruction that says *where*, not what: a variable, then an array element, then"
    " a struct member. Loads and stores go through such chains.",
    "divergence": "Lanes of one group that disagree: about a value, or about where to go. A uniform"
    " of GL is never divergent; a varying nearly always is.",
    "dominance": "Block A dominates B if every way to B leads through A. A value may be used only"
    " where its definition dominates.",
    "early z": "Testing depth before the fragment shader runs, where nobody can tell.",
    "execution mask": "Which lanes of a SIMD group take part in an instruction.",
    "ffma": "Fused multiply-add: `a * b + c` rounded once instead of twice.",
    "fixed function": "What OpenGL 1 did without shaders. Here it is generated shaders and state.",
    "front end": "The part of a compiler that knows one language: parses, checks, makes NIR.",
    "Gallium": "The design this stack follows: a state tracker that knows the API, drivers that"
    " know the machine, and a small interface (pipe) between them.",
    "helper lane": "A fragment that runs only so that its neighbours have differences to take"
    " derivatives from; nothing it writes is kept.",
    "inexact": "Of a rule or pass: results may differ in rounding. `precise` and `invariant`"
    " forbid it.",
    "intrinsic": "An instruction that is no arithmetic: loads, stores, barriers, system values."
    " Printed with `@` in front.",
    "invariance": "The same expression gives the same bits wherever it stands. GL promises it for"
    " the same program with the same state, and for what is declared `invariant`.",
    "ISA": "Instruction set architecture: the instructions a machine has, and their encoding.",
    "lane": "One invocation among many that run together. In NumPy code, one element of an array.",
    "linker": "What `glLinkProgram` runs: matches stages, gives out locations, makes one NIR shader"
    " per stage.",
    "live range": "From where a value is defined to where it is last needed. Two values whose"
    " ranges do not meet can share a register.",
    "lowering": "Replacing what the machine does not have by what it has.",
    "mode": "Of a deref or variable: the kind of memory (input, output, uniform, storage buffer,"
    " shared, local).",
    "NIR": "The intermediate representation of shaders: SSA values, structured control flow,"
    " derefs. Everything is lowered and optimised in it.",
    "null key": "The variant key of a draw that asks for nothing special.",
    "page table": "What turns an address a program uses into a place in memory, a page at a time.",
    "pass": "A function that changes a shader a little and says whether it did.",
    "phi": "At a place where control flow meets: the value is this one if we came from there, that"
    " one if from here.",
    "pipe": "The interface between state tracker and driver: create and bind state, draw, copy.",
    "pipe state": "State as the driver sees it: a few immutable objects (blend, rasterizer,"
    " depth-stencil-alpha, samplers) made from hundreds of GL settings.",
    "provoking vertex": "The vertex whose value a flat-shaded primitive takes.",
    "rasterizer": "Turns primitives into fragments: which pixels, with which depth and inputs.",
    "reference count": "How many hold on to a thing. The last one to let go ends it.",
    "register allocation": "Deciding which value is in which register when.",
    "resource": "The pipe's word for buffers, textures and renderbuffers: memory with a format.",
    "scoreboard": "Hardware that holds an instruction back until a register it needs has been"
    " written by one still under way.",
    "shader_test": "A text file with shaders, draws and what must come out; piglit's format.",
    "SIMD": "Single instruction, multiple data: one instruction works on many lanes.",
    "spilling": "Keeping a value in memory for want of a register.",
    "SPIR-V": "A binary form of shaders for handing them between programs.",
    "SSA": "Static single assignment: a value is defined once and never changes. What a variable"
    " holds at a place becomes a question of which value reaches it.",
    "state tracker": "The part that *is* OpenGL: objects, errors, bindings; it translates to pipe.",
    "swizzle": "A choice of components: `v.xxy`.",
    "use list": "Every value knows who reads it. `is_used_once` asks for its length.",
    "validation": "Checking that a shader is well formed: uses dominated, sizes matching, lists"
    " exact. Run after every pass on request.",
    "variant": "The code of a shader for one set of bound state.",
    "variant key": "The part of bound state that is compiled into a variant.",
    "varying": "A value the vertex shader writes and the fragment shader reads, interpolated.",
    "vectorisation": "Turning operations on single components into operations on vectors; its"
    " opposite is scalarisation.",
}


def words_in(text: str) -> list[str]:
    """The glossary's words that a text uses, in alphabetical order."""
    found = []
    for word in GLOSSARY:
        plural = "(?:es)?" if word.endswith("s") else "s?"
        flags = 0 if word.isupper() else re.I
        if re.search(rf"(?<![\w/-]){re.escape(word)}{plural}(?![\w/-])", text, flags):
            found.append(word)
    return sorted(found, key=str.lower)


def page() -> str:
    """`docs/reference/glossary.md`."""
    lines = [
        "# Glossary",
        "",
        "Made from `gallette/lessons/glossary.py`; do not edit.",
        "",
        "For people who know OpenGL and not what is below it.",
        "",
    ]
    for word in sorted(GLOSSARY, key=str.lower):
        lines.append(f"- **{word}**: {GLOSSARY[word]}")
    return "\n".join(lines) + "\n"
