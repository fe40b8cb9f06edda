"""pyrender: a lit ball with vertex colours above a floor, off screen."""

import os
import sys

import numpy as np

os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
np.infty = np.inf  # type: ignore[attr-defined]  # pyrender is older than NumPy 2, which dropped the name
import pyrender  # noqa: E402
import trimesh  # noqa: E402
from PIL import Image  # noqa: E402

ball = trimesh.creation.icosphere(subdivisions=3, radius=0.6)
ball.visual.vertex_colors = np.uint8(np.c_[(ball.vertices + 0.6) * 212, np.full(642, 255)])
floor = trimesh.creation.box((3.0, 3.0, 0.1))
scene = pyrender.Scene(ambient_light=(0.2, 0.2, 0.25), bg_color=(0.1, 0.1, 0.15, 1.0))
scene.add(pyrender.Mesh.from_trimesh(ball, smooth=False))
below = trimesh.transformations.translation_matrix((0, 0, -0.8))
scene.add(pyrender.Mesh.from_trimesh(floor, smooth=False), pose=below)
eye = np.eye(4)
eye[:3, 3] = (0.0, -1.6, 1.6)
c = np.sqrt(0.5)
eye[:3, :3] = ((1, 0, 0), (0, c, -c), (0, c, c))
scene.add(pyrender.PerspectiveCamera(yfov=np.pi / 3), pose=eye)
scene.add(pyrender.DirectionalLight(color=(1.0, 0.9, 0.8), intensity=4.0), pose=eye)
renderer = pyrender.OffscreenRenderer(160, 120)
color, depth = renderer.render(scene)
renderer.delete()
Image.fromarray(color).save(sys.argv[1])
