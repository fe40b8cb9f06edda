"""From fragments to memory: order, depth and stencil, shading, blending."""
