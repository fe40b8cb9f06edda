"""From lowered NIR, which has slots and numbers, to SPIR-V for pipelines.

`variables` gives a shader variables again: for the slots of its inputs and outputs (`varyings`),
and for buffers, textures and images by number (`resources`). Then `compiler/spirv/emit` writes it.
Locations and bindings are left open: `program.Program.linked` fills them in for each pipeline.
"""
