"""pyglet without a window: its own shaders, a label and shapes."""

import sys

import pyglet

pyglet.options["headless"] = True
from pyglet import shapes  # noqa: E402

config = pyglet.gl.Config(red_size=8, green_size=8, blue_size=8, double_buffer=True)
window = pyglet.window.Window(96, 64, config=config)
batch = pyglet.graphics.Batch()
kept = [
    shapes.Circle(30, 30, 20, color=(200, 50, 50), batch=batch),
    shapes.Rectangle(50, 10, 36, 30, color=(50, 200, 50, 128), batch=batch),
    shapes.Line(5, 5, 90, 60, 3, color=(50, 50, 250), batch=batch),
]
window.switch_to()
pyglet.gl.glClearColor(0.1, 0.1, 0.1, 1.0)
window.clear()
batch.draw()
image = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
data = image.get_data("RGBA", 96 * 4)
from PIL import Image  # noqa: E402

Image.frombytes("RGBA", (96, 64), data).save(sys.argv[1])
