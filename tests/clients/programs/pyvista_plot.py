"""PyVista: a surface coloured by its height, off screen."""

import sys

import numpy as np
import pyvista

pyvista.global_theme.multi_samples = 4  # as many as every OpenGL here has

x, y = np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-3, 3, 25))
surface = pyvista.StructuredGrid(x, y, np.sin(x) * np.cos(y))
plotter = pyvista.Plotter(off_screen=True, window_size=(120, 100))
plotter.add_mesh(surface, scalars=surface.points[:, 2], show_edges=True, show_scalar_bar=False)
plotter.set_background("white")
plotter.screenshot(sys.argv[1])
