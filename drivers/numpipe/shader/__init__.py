"""Shader execution: optimised NIR becomes generated Python code over NumPy arrays.

Start with `api` (what the draw room sees) and `program` (`compile_program`, the one way in). The
way of a shader: `translate` takes NIR apart into the scalar operations of a lane program
(`lane_ir`); `analyse` finds what is dead, divergent, of which dtype and alive how long; `emit`
writes Python source from it, with `scopes` handing out registers. The generated code calls
`runtime` for whatever is more than one NumPy operation. `geometry` turns what geometry shaders emit
into vertices.
"""
