"""pygame on SDL's offscreen driver, with moderngl in its window's context."""

import os
import sys

os.environ.setdefault("SDL_VIDEODRIVER", "offscreen")
import moderngl
import pygame
from PIL import Image

pygame.display.init()
pygame.display.gl_set_attribute(pygame.GL_CONTEXT_MAJOR_VERSION, 3)
pygame.display.gl_set_attribute(pygame.GL_CONTEXT_MINOR_VERSION, 3)
pygame.display.gl_set_attribute(pygame.GL_CONTEXT_PROFILE_MASK, pygame.GL_CONTEXT_PROFILE_CORE)
pygame.display.set_mode((64, 48), pygame.OPENGL | pygame.DOUBLEBUF)
ctx = moderngl.create_context()
program = ctx.program(
    vertex_shader="""
        #version 330
        void main() {
            vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
            gl_Position = vec4(corner * 1.5 - 0.75, 0.0, 1.0);
        }
    """,
    fragment_shader="""
        #version 330
        out vec4 color;
        void main() { color = vec4(gl_FragCoord.xy / 64.0, 0.5, 1.0); }
    """,
)
ctx.screen.use()
ctx.clear(0.0, 0.2, 0.0, 1.0)
ctx.vertex_array(program, []).render(moderngl.TRIANGLE_STRIP, 4)
data = ctx.screen.read(components=4)
pygame.display.flip()
Image.frombytes("RGBA", (64, 48), data).save(sys.argv[1])
