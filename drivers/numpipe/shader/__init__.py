"""Shader execution: optimised NIR becomes generated Python code over NumPy arrays.

Start with `program` (`compile_program` is the entry point). A shader goes through these steps:
`translate` splits NIR into the scalar operations of a lane program (`lane_ir`); `analyse` finds
dead operations, dtypes and lifetimes; `emit` writes Python source, with registers from `scopes`.
The generated code calls `runtime` for everything that is more than one NumPy operation.
"""
