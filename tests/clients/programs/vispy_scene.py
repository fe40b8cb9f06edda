"""vispy's scene graph: a volume by ray casting, a shaded mesh, lines and an image, in one grid."""

import sys

import numpy as np
import vispy
from PIL import Image

vispy.use("egl")
from vispy import scene  # noqa: E402  (of the backend)
from vispy.geometry import create_sphere  # noqa: E402

canvas = scene.SceneCanvas(keys=None, size=(240, 160), show=False, bgcolor="#203040")
grid = canvas.central_widget.add_grid(spacing=4)
z, y, x = np.mgrid[-1:1:16j, -1:1:16j, -1:1:16j]
ball = np.exp(-4 * (x * x + 2 * y * y + z * z)).astype(np.float32)
view = grid.add_view(row=0, col=0, camera="turntable")
scene.visuals.Volume(ball, parent=view.scene, method="mip", clim=(0, 1))
view.camera.set_range()
view = grid.add_view(row=0, col=1, camera="turntable")
mesh = create_sphere(12, 16, radius=1.0)
scene.visuals.Mesh(mesh.get_vertices(), mesh.get_faces(), color=(0.9, 0.6, 0.2, 1),
                   shading="smooth", parent=view.scene)  # fmt: skip
view.camera.set_range((-1, 1), (-1, 1), (-1, 1))
view = grid.add_view(row=1, col=0, camera="panzoom")
t = np.linspace(0, 6.28, 80)
scene.visuals.Line(np.stack([t, np.sin(2 * t)], -1), color="cyan", width=3, parent=view.scene)
view.camera.set_range((0, 6.28), (-1.2, 1.2))
view = grid.add_view(row=1, col=1, camera="panzoom")
scene.visuals.Image(ball[8], cmap="viridis", clim=(0, 1), parent=view.scene,
                    interpolation="bilinear")  # fmt: skip
view.camera.set_range((0, 16), (0, 16))
Image.fromarray(canvas.render()).save(sys.argv[1])
