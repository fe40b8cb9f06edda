"""A matrix product as a tiled kernel in local memory, beside NumPy's loops.

    python bench/matmul.py [--size 512] [--tile 16] [--driver numpipe] [--profile]

The bar is 50 times `einsum("ik,kj", optimize=False)`, which is compiled code that adds one product
after another. Processor time, the better of two runs, the compilation of the kernel apart.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

import numpy as np

from gallette.compute import ComputeShader

SOURCE = """#version 430
#define T {tile}
layout(local_size_x = T, local_size_y = T) in;
layout(std430, binding = 0) buffer A {{ float a[]; }};
layout(std430, binding = 1) buffer B {{ float b[]; }};
layout(std430, binding = 2) buffer C {{ float c[]; }};
uniform int n;
shared float ta[T][T];
shared float tb[T][T];
void main()
{{
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
    float sum = 0.0;
    for (int t = 0; t < n / T; t++) {{
        ta[y][x] = a[row * n + t * T + x];
        tb[y][x] = b[(t * T + y) * n + column];
        barrier();
        for (int k = 0; k < T; k++) sum += ta[y][k] * tb[k][x];
        barrier();
    }}
    c[row * n + column] = sum;
}}
"""


def main() -> None:
    """Print both times and how they compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--tile", type=int, default=16)
    parser.add_argument("--driver", default="numpipe")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    n, tile = options.size, options.tile
    rng = np.random.default_rng(1)
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    c = np.zeros_like(a)
    with ComputeShader(SOURCE.format(tile=tile), options.driver) as shader:
        small = np.zeros((tile, tile), np.float32)
        shader(small, small, small.copy(), n=tile, grid=(1, 1))  # compiles

        def run() -> None:
            shader(a, b, c, n=n, grid=(n // tile, n // tile))

        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(run)
            pstats.Stats(profile).sort_stats("tottime").print_stats(15)
            return
        times = []
        for work in (run, lambda: np.einsum("ik,kj", a, b, optimize=False)):
            best = 1e9
            for _ in range(2):
                start = time.process_time()
                work()
                best = min(best, time.process_time() - start)
            times.append(best)
    error = float(np.abs(c - a @ b).max() / c.max())
    print(
        f"{options.driver}, {n}x{n} in tiles of {tile}: {times[0]:.2f} s, largest error {error:.1e}"
    )
    print(f"einsum: {times[1]:.3f} s; {times[0] / times[1]:.1f} times")


if __name__ == "__main__":
    main()
