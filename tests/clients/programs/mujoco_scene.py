"""A scene of MuJoCo, through its fixed-function renderer: textures, lights, shadows, mirrors."""

import sys

import mujoco
from PIL import Image

MODEL = """
<mujoco>
  <visual>
    <global offwidth="160" offheight="120"/>
    <quality shadowsize="512" offsamples="0"/>
  </visual>
  <asset>
    <texture name="grid" type="2d" builtin="checker" width="64" height="64"
             rgb1=".2 .3 .4" rgb2=".6 .6 .5"/>
    <material name="grid" texture="grid" texrepeat="4 4" reflectance="0.2"/>
  </asset>
  <worldbody>
    <light pos="1 1 3" dir="-0.3 -0.3 -1" directional="true"/>
    <geom type="plane" size="2 2 .1" material="grid"/>
    <geom type="box" size=".3 .3 .3" pos="0 0 .4" euler="10 20 30" rgba=".8 .3 .2 1"/>
    <geom type="sphere" size=".25" pos=".7 -.4 .3" rgba=".2 .5 .8 1"/>
    <geom type="capsule" size=".12 .3" pos="-.6 .3 .5" rgba=".3 .8 .3 1"/>
  </worldbody>
</mujoco>
"""
model = mujoco.MjModel.from_xml_string(MODEL)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
camera = mujoco.MjvCamera()
camera.lookat[:] = (0, 0, 0.3)
camera.distance, camera.azimuth, camera.elevation = 3.0, 60.0, -25.0
with mujoco.Renderer(model, 120, 160) as renderer:
    renderer.update_scene(data, camera)
    Image.fromarray(renderer.render()).save(sys.argv[1])
