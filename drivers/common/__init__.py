"""The code that drivers share: everything about drawing except what distinguishes drivers.

A driver imports the parts it needs; nothing here knows any driver.

* `variants`: variant keys, the two rounds of lowering, the cache of variants and its log.
* `vertex`: fetch, assembly, clipping, tessellation, stream output.
* `raster`: coverage in exact fixed point, spans and fragments, interpolation.
* `texture`: wrap modes, levels of detail, cube faces, texels by index, a sampling unit.
* `draw`: execution of draw calls, tessellation and geometry stages, and compute launches.
* `output`: fragments in NumPy: tests, order, blending, any format, several samples.
* `storage`: buffers and images of shaders, atomics. `program`: the interface of compiled shaders.
* `context`, `screen`: the pipe interface over all of these, for a driver to build on.
* `memory`: resources in host memory, clears, copies, blits, mipmaps.
* `bound`, `queries`, `lanes`: bound state, counters and queries, the inputs of shaders.
"""
