"""Fixed function as NIR: the arithmetic between a shader's colour and a texel, written once.

A `routine.Routine` is a pure function over NIR's builder, specialised by state while it is built.
jit compiles routines into its tile functions (`drivers.jit.shader.routines`), `arrays.evaluate`
runs them with NumPy, and the debugger steps through them. Drivers load and store; no routine
touches memory.

`formats` packs and unpacks texels of any uncompressed format, `blending` has the equations and
factors, `output` composes what happens to a fragment's colour.
"""
