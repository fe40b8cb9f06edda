"""From lowered NIR, which has slots, to SPIR-V for pipelines.

The emitter of `compiler/spirv/emit` does everything but the interface: inputs, outputs, buffers,
textures and images are numbers at the pipe boundary, and variables only here. Locations and
bindings are left open: `program.Program.linked` fills them in for each pipeline.
"""
