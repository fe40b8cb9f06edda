"""A window of Dear ImGui (imgui_bundle), drawn by its own renderer into a moderngl target."""

import sys

import moderngl
import numpy as np
from imgui_bundle import imgui
from imgui_bundle.python_backends.opengl_backend_programmable import ProgrammablePipelineRenderer
from PIL import Image

context = moderngl.create_context(standalone=True, backend="egl")
target = context.simple_framebuffer((200, 150))
target.use()
imgui.create_context()
io = imgui.get_io()
io.display_size = imgui.ImVec2(200, 150)
io.set_ini_filename("")
renderer = ProgrammablePipelineRenderer()
values = np.sin(np.arange(40) * 0.3).astype(np.float32)
for _ in range(2):
    io.delta_time = 1 / 60
    imgui.new_frame()
    imgui.set_next_window_pos(imgui.ImVec2(10, 10))
    imgui.set_next_window_size(imgui.ImVec2(170, 125))
    imgui.begin("gallette")
    imgui.text("Hello, triangle")
    imgui.button("press")
    imgui.slider_float("x", 0.4, 0.0, 1.0)
    imgui.plot_lines("sine", values)
    imgui.end()
    imgui.render()
    context.clear(0.2, 0.3, 0.4)
    renderer.render(imgui.get_draw_data())
Image.frombytes("RGB", (200, 150), target.read(components=3)).save(sys.argv[1])
