import pytest

pyglet = pytest.importorskip("pyglet", reason="pyglet is not installed")


def test_board(gallette_gl, image_regression):
    import sprites

    pyglet.options["headless"] = True
    window = pyglet.window.Window(96, 64)
    batch = pyglet.graphics.Batch()
    kept = sprites.board(batch)
    window.clear()
    batch.draw()
    picture = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data()
    image_regression(_array(picture), "board")
    window.close()
    del kept


def _array(picture):
    """pyglet's rows begin at the bottom."""
    import numpy as np

    data = np.frombuffer(picture.get_data("RGBA", picture.width * 4), np.uint8)
    return data.reshape(picture.height, picture.width, 4)[::-1]


def test_the_program(gallette_run, image_regression):
    run = gallette_run(["sprites.py"], frames=1)
    image_regression(run, "program")
