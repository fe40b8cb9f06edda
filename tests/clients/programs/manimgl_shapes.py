"""manimgl's camera, without a window: filled and stroked curves, a dotted line, a lit surface."""

import sys

import moderngl
import pyglet

pyglet.options["headless"] = True  # manimlib looks for a display when it is imported
moderngl.create_standalone_context = lambda: moderngl.create_context(standalone=True, backend="egl")
sys.argv, picture = sys.argv[:1], sys.argv[1]

from manimlib import (  # noqa: E402  (as above)
    BLUE,
    DOWN,
    GREEN,
    LEFT,
    RED,
    RIGHT,
    UP,
    WHITE,
    YELLOW,
    Arrow,
    Camera,
    Circle,
    DashedLine,
    Dot,
    Sphere,
    Square,
)

camera = Camera(resolution=(320, 180), samples=4)
sphere = Sphere(radius=1.2).shift(2.5 * RIGHT).set_color(BLUE)
shapes = [
    Square(2.5).set_fill(RED, 0.5).set_stroke(WHITE, 4).shift(4 * LEFT + UP).rotate(0.3),
    Circle(radius=1.5).set_fill(GREEN, 0.7).set_stroke(YELLOW, 6).shift(3 * LEFT + DOWN),
    Arrow(LEFT, 2 * RIGHT + 2 * UP),
    DashedLine(5 * LEFT + 3 * DOWN, 5 * RIGHT + 3 * DOWN),
    Dot(point=2 * DOWN).set_color(YELLOW),
    sphere,
]
camera.capture(*shapes)
camera.get_image().save(picture)
