"""A pyglet window with shapes; `python sprites.py` shows it."""

import pyglet


def board(batch):
    """The shapes of the picture; they draw while they are kept."""
    kinds = pyglet.shapes
    return [
        kinds.Rectangle(0, 0, 96, 64, (30, 30, 60), batch=batch),
        kinds.Rectangle(8, 8, 30, 40, (220, 80, 60), batch=batch),
        kinds.Triangle(40, 8, 70, 8, 55, 50, (80, 200, 90), batch=batch),
        kinds.Rectangle(60, 30, 28, 28, (250, 220, 90, 128), batch=batch),
    ]


def main():
    window = pyglet.window.Window(96, 64)
    batch = pyglet.graphics.Batch()
    kept = board(batch)

    @window.event
    def on_draw():
        window.clear()
        batch.draw()

    pyglet.app.run()
    del kept


if __name__ == "__main__":
    main()
