"""What drivers share: everything about drawing that is not what makes one driver different.

A driver picks what it wants; nothing here knows any of them.

* `variants`: keys, the two rounds of lowering, the cache and its log.
* `vertex`: fetch, assembly, clipping, tessellation, stream output.
* `raster`: coverage in exact fixed point, spans and fragments, interpolation.
* `texture`: wrap modes, levels of detail, cube faces, texels by index, a sampling unit.
* `memory`: resources in host memory, clears, copies, blits, mipmaps.
* `bound`, `queries`, `lanes`: what is bound, what has been counted, what shaders are given.
"""
