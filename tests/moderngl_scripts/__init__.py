"""Scripts for unmodified moderngl: each has `render(ctx)`, which returns named images.

They run on the native GL and on gallette; `tests/state_tracker/test_moderngl.py` compares.
"""
