import moderngl

import gallette

ctx = moderngl.create_context(standalone=True)
picture = ctx.simple_framebuffer((16, 12))
picture.clear(0.2, 0.4, 0.6, 1.0)
gallette.mark("plain", picture)
picture.clear(0.9, 0.6, 0.1, 1.0, viewport=(4, 4, 8, 4))
gallette.mark("a box", picture)
