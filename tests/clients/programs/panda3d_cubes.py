"""Panda3D's fixed pipeline: lit, textured cards and a transparent one, into an offscreen buffer."""

import sys

from panda3d.core import (
    CardMaker,
    DirectionalLight,
    PNMImage,
    Texture,
    Vec4,
    loadPrcFileData,
)

loadPrcFileData("", "load-display p3headlessgl\naudio-library-name null\nwin-size 160 120")
from direct.showbase.ShowBase import ShowBase  # noqa: E402

base = ShowBase(windowType="offscreen")
base.setBackgroundColor(0.1, 0.2, 0.3)
image = PNMImage(16, 16)
for y in range(16):
    for x in range(16):
        on = (x // 4 + y // 4) % 2
        image.setXel(x, y, 0.9 if on else 0.2, x / 15.0, y / 15.0)
texture = Texture()
texture.load(image)
maker = CardMaker("card")
maker.setFrame(-1, 1, -1, 1)
maker.setHasNormals(True)
for index, heading in enumerate((-40, 10, 55)):
    card = base.render.attachNewNode(maker.generate())
    card.setPos(index * 1.2 - 1.2, 6 + index, 0)
    card.setHpr(heading, index * 15, 0)
    card.setTwoSided(True)
    if index != 1:
        card.setTexture(texture)
    else:
        card.setColor(0.9, 0.8, 0.2, 0.5)
        card.setTransparency(True)
light = DirectionalLight("sun")
light.setColor(Vec4(0.9, 0.9, 0.8, 1))
node = base.render.attachNewNode(light)
node.setHpr(20, -30, 0)
base.render.setLight(node)
base.graphicsEngine.renderFrame()
base.graphicsEngine.renderFrame()
shot = PNMImage()
base.win.getScreenshot(shot)
shot.write(sys.argv[1])
