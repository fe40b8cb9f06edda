"""Copies of aggregates become loads and stores."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import INT
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_var_copies", preserves=Metadata.CONTROL_FLOW)
def lower_var_copies(shader: Shader, *, max_elements: int = 64) -> bool:
    """`copy_deref` of a struct, array or matrix becomes one load and store per scalar or vector.

    An array longer than `max_elements` is copied by a loop.
    """
    progress = False
    for impl in shader.impls():
        for copy in intrinsics_of(impl, "copy_deref"):
            dst, src = copy.srcs[0].value.instr, copy.srcs[1].value.instr
            assert isinstance(dst, Deref)
            assert isinstance(src, Deref)
            b = Builder(impl).at_before(copy)
            _copy(b, dst, src, max_elements)
            copy.remove()
            remove_dead_deref(dst)
            if src.block is not None:
                remove_dead_deref(src)
            progress = True
    return progress


def _copy(b: Builder, dst: Deref, src: Deref, max_elements: int) -> None:
    work = [(dst, src)]
    while work:
        d, s = work.pop()
        if d.type.is_vector_or_scalar or d.type.is_opaque:
            b.store_deref(d, b.load_deref(s))
        elif d.type.is_struct:
            for i in range(len(d.type.fields)):
                work.append((b.deref_struct(d, i), b.deref_struct(s, i)))
        elif d.type.indexed_length() > max_elements:
            _copy_in_loop(b, d, s, max_elements)
        else:
            for i in range(d.type.indexed_length()):
                work.append((b.deref_array_imm(d, i), b.deref_array_imm(s, i)))


def _copy_in_loop(b: Builder, dst: Deref, src: Deref, max_elements: int) -> None:
    """Copy a long array element by element in a loop."""
    counter = b.impl.add_local("copy_index", INT)
    b.store_var(counter, b.imm_int(0))
    b.push_loop()
    index = b.load_var(counter)
    b.break_if(b.ige(index, b.imm_int(dst.type.length)))
    _copy(b, b.deref_array(dst, index), b.deref_array(src, index), max_elements)
    b.store_var(counter, b.iadd(index, b.imm_int(1)))
    b.pop_loop()
