"""Drivers for machines that are simulated, instruction by instruction.

`isa` describes instruction sets as tables, from which encoding, assembly and checks of operands
follow. `selection` and `backend` turn NIR into instructions, `simulator` runs them on many threads
at once, `program` presents a compiled shader to the shared draw code. `simd` and `tiler` are the
two machines: their tables, and whatever is specific to one of them.
"""
