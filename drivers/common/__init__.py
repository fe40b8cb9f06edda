"""What drivers share: everything about drawing that is not what makes one driver different.

A driver picks what it wants; nothing here knows any of them.

* `variants`: keys, the two rounds of lowering, the cache and its log.
* `vertex`: fetch, assembly, clipping, tessellation, stream output.
* `raster`: coverage in exact fixed point, spans and fragments, interpolation.
* `texture`: wrap modes, levels of detail, cube faces, texels by index, a sampling unit.
* `draw`: the way of a draw call, of tessellation and geometry stages, and of a compute launch.
* `output`: fragments in NumPy: tests, order, blending, any format, several samples.
* `storage`: buffers and images of shaders, atomics. `program`: what a compiled shader answers to.
* `context`, `screen`: the pipe interface over all of these, for a driver to build on.
* `memory`: resources in host memory, clears, copies, blits, mipmaps.
* `bound`, `queries`, `lanes`: what is bound, what has been counted, what shaders are given.
"""
