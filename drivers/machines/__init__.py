"""Drivers for machines that are simulated, instruction by instruction.

`isa`: what an instruction set is made of, and all that follows from its table: words, assembly,
checks of operands. `selection` and `backend` turn NIR into instructions, `simulator` runs them on
many threads at once, `program` makes a compiled shader what the draw room calls. `simd` and `tiler`
are the two machines: a table each, and what no other machine has.
"""
