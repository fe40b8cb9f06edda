import bpy

bpy.context.preferences.view.show_splash = False
