"""arcade, headless: shapes, sprites with textures of their own, a sprite list turned and scaled."""

import os
import sys

os.environ["ARCADE_HEADLESS"] = "True"

import arcade
from PIL import Image

window = arcade.open_window(200, 150, "gallette", antialiasing=False)
window.clear(arcade.color.DARK_SLATE_GRAY)
arcade.draw_circle_filled(60, 80, 40, arcade.color.ORANGE)
arcade.draw_lbwh_rectangle_filled(90, 20, 80, 50, (80, 160, 255, 160))
arcade.draw_line(5, 5, 195, 140, arcade.color.WHITE, 3)
arcade.draw_triangle_outline(100, 100, 180, 100, 140, 140, arcade.color.YELLOW, 2)
checks = Image.new("RGBA", (16, 16))
checks.putdata(
    [(255 * (x // 4 + y // 4 & 1), 16 * x, 16 * y, 255) for y in range(16) for x in range(16)]
)
texture = arcade.Texture(checks, hash="checks")
sprites = arcade.SpriteList()
for i in range(5):
    sprite = arcade.Sprite(texture, scale=1 + i * 0.4, center_x=25 + 38 * i, center_y=110 - 14 * i)
    sprite.angle = 25 * i
    sprites.append(sprite)
sprites.draw()
arcade.get_image(0, 0, 200, 150).save(sys.argv[1])
