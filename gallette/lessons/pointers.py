"""Lesson: one kernel under each address format."""

from __future__ import annotations

from gallette.compiler.nir.ir.addresses import FORMATS
from gallette.compiler.nir.ir.cf import If, walk
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import PassSpec, run_passes
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.lessons.page import Block, Code, Diff, Page, Pictures, Table, lesson
from gallette.lessons.plots import bars

__all__ = ["TABLES", "counts", "front_form", "lowered"]

_HEAD = """
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpName %items "items"
OpName %scratch "scratch"
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%item = OpTypeStruct %float %float
%gitem = OpTypePointer CrossWorkgroup %item
%litem = OpTypePointer Workgroup %item
%item_g = OpTypePointer Generic %item
%float_g = OpTypePointer Generic %float
%gfloat = OpTypePointer CrossWorkgroup %float
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%long1 = OpConstant %ulong 1
%two = OpConstant %float 2
%type = OpTypeFunction %void %gitem %litem %uint
%k = OpFunction %void None %type
%items = OpFunctionParameter %gitem
%scratch = OpFunctionParameter %litem
%n = OpFunctionParameter %uint
%start = OpLabel
%at = OpUConvert %ulong %n
"""
_TAIL = """
OpReturn
OpFunctionEnd
"""
# items[n].b += items[n].a, then items[n].a again: the store to b does not touch a.
PLAIN = f"""{_HEAD}
%p = OpInBoundsPtrAccessChain %gfloat %items %at %zero
%q = OpInBoundsPtrAccessChain %gfloat %items %at %one
%a = OpLoad %float %p
%b = OpLoad %float %q
%s = OpFAdd %float %a %b
OpStore %q %s
%again = OpLoad %float %p
%t = OpFMul %float %again %two
OpStore %p %t
{_TAIL}"""
# The pointer is chosen at run time: n even, global; odd, the workgroup's memory.
GENERIC = f"""{_HEAD}
%g = OpPtrCastToGeneric %item_g %items
%l = OpPtrCastToGeneric %item_g %scratch
%bit = OpBitwiseAnd %uint %n %one
%odd = OpIEqual %bool %bit %one
%which = OpSelect %item_g %odd %l %g
%p = OpInBoundsPtrAccessChain %float_g %which %long1 %zero
%a = OpLoad %float %p
%t = OpFMul %float %a %two
OpStore %p %t
{_TAIL}"""
# The same, but both ways lead to global memory.
PROVEN = GENERIC.replace(
    "%which = OpSelect %item_g %odd %l %g", "%which = OpSelect %item_g %odd %g %g"
)
TABLES: dict[str, str] = {
    "offset32": "global=offset32",
    "index_offset32": "global=index_offset32 shared=index_offset32 generic=fat",
    "global64": "",
    "bounded64": "global=bounded64",
    "generic62": "global=generic62 shared=generic62 function_temp=generic62",
    "fat": "global=fat shared=fat function_temp=fat generic=fat",
}
_FRONT: tuple[PassSpec, ...] = (
    *("lower_vars_to_ssa", "opt_deref", "copy_prop", "algebraic", "copy_prop", "opt_deref"),
    *("cse", "dce"),
)
_MEMORY: tuple[PassSpec, ...] = ("opt_copy_prop_vars", "opt_dead_write_vars", "copy_prop", "dce")


def front_form(text: str) -> Shader:
    """The kernel with its accesses still derefs."""
    shader = spirv_to_nir(assemble(text), Stage.KERNEL)
    shader.stage = Stage.COMPUTE
    shader.info.workgroup_size = (16, 1, 1)
    run_passes(shader, _FRONT)
    return shader


def lowered(text: str, formats: str, derefs: bool = True) -> Shader:
    """The kernel with addresses; with `derefs`, memory was optimised before that, else after."""
    shader = front_form(text)
    passes: list[PassSpec] = [("lower_explicit_io", {"formats": formats}), "lower_global_to_ssbo"]
    run_passes(shader, [*_MEMORY, *passes] if derefs else [*passes, *_MEMORY])
    optimize(shader)
    return shader


def counts(shader: Shader) -> dict[str, int]:
    """Instructions, loads, stores and branches."""
    names = [
        instr.name
        for block in shader.entry.blocks()
        for instr in block.instrs()
        if isinstance(instr, Intrinsic)
    ]
    return {
        "instructions": shader.count_instrs(),
        "loads": sum(n in ("load_ssbo", "load_shared") for n in names),
        "stores": sum(n in ("store_ssbo", "store_shared") for n in names),
        "branches": sum(isinstance(node, If) for node in walk(shader.entry.body)),
    }


def _row(name: str, shader: Shader) -> tuple[str, ...]:
    found = counts(shader)
    return (name, *(str(v) for v in found.values()))


@lesson("pointers", "Pointers: what an address is", chapter="The compiler", place=30)
def run(page: Page, driver: str) -> None:
    """The driver chooses what a pointer is, per kind of memory, and the compiler follows a table.

    One kernel under each address format, the branch behind a generic pointer, and what is lost when
    accesses become addresses too early.
    """
    page.section(
        "A pointer is whatever the driver says",
        """In the compiler a pointer is a chain of derefs: which variable or base, which element,
        which member. What the machine calls an address is decided late, by the table *mode =
        format* in the driver's caps.""",
    )
    page.add(
        Table(
            ("format", "shape", "meaning"),
            [(f.name, f"{f.components} x {f.bits} bits", f.doc) for f in FORMATS.values()],
        )
    )
    shader = front_form(PLAIN)
    page.add(Code(print_shader(shader), "nir", "items[n].b += items[n].a; items[n].a *= 2"))
    shader.unref()
    rows, texts = [], {}
    for name, formats in TABLES.items():
        page.progress(name)
        shader = lowered(PLAIN, formats)
        rows.append(_row(name, shader))
        texts[name] = print_shader(shader)
        shader.unref()
    columns = ("format", "instructions", "loads", "stores", "branches")
    page.section("The same kernel under each format")
    page.add(Table(columns, rows))
    ticks = [(0.0, "0"), (25.0, "25"), (50.0, "50")]
    names = [row[0].replace("_", "\n").replace("6", "\n6", 1) for row in rows]
    page.add(Pictures([("instructions", bars(names, [float(r[1]) for r in rows], ticks))]))
    page.flip(
        "the format of global memory",
        *((name, list[Block]([Code(text, "nir")])) for name, text in texts.items()),
    )
    caption = "64-bit addresses (-), buffer number and offset (+)"
    page.add(Diff(texts["global64"], texts["index_offset32"], caption))
    page.prose(
        """A bounded address carries its buffer's size and asks before every access, so it has a
        branch per access; a fat one carries its space. An offset alone is shortest, and knows one
        buffer only."""
    )
    page.section(
        "The branch behind a generic pointer",
        """Where a pointer may lead into several kinds of memory, an access is a branch per kind,
        by the space in its top bits (or its first component). As soon as the compiler proves the
        kind, all but one go: below, the same kernel with a pointer that only seems to be
        chosen.""",
    )
    generic, proven = lowered(GENERIC, ""), lowered(PROVEN, "")
    page.add(Diff(print_shader(generic), print_shader(proven), "generic (-), proven global (+)"))
    rows = [_row("generic", generic), _row("proven", proven)]
    page.add(Table(("", *columns[1:]), rows))
    for shader in (generic, proven):
        shader.unref()
    page.section(
        "What an address has forgotten",
        """Writing member b leaves member a alone: chains of derefs say so, sums of bytes do not.
        So the second load of a goes if memory is optimised while pointers are derefs, and stays if
        they were lowered first.""",
    )
    early, late = lowered(PLAIN, "", derefs=False), lowered(PLAIN, "")
    page.add(Table(columns, [_row("lowered first", early), _row("derefs first", late)]))
    page.add(Diff(print_shader(early), print_shader(late), "lowered first (-), derefs first (+)"))
    for shader in (early, late):
        shader.unref()
    page.ask(
        "Why may a generic pointer have two free bits on top of a 64-bit address?",
        """Because nobody has 62 bits of memory: the driver hands out addresses whose top bits are
        zero, so the space fits there, and a null pointer stays null.""",
    )
    page.ask(
        "Where does a null pointer lead, as buffer number and offset?",
        """To buffer -1. A driver that checks its buffer numbers reads zero there and writes
        nowhere, without a branch in the code.""",
    )
    page.tries(
        (
            'gallette kernel k.spv --nir --formats "global=fat generic=fat"',
            "any kernel under any table",
        ),
        ("python bench/alias_facts.py", "the last table, over a corpus"),
    )
