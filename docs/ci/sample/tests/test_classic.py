import pytest

pytest.importorskip("OpenGL", reason="PyOpenGL is not installed")
pytestmark = pytest.mark.gallette(profile="compat", version=(2, 1), size=(64, 64))


@pytest.mark.parametrize("drawing", ["fan", "lit_quad", "lines"])
def test_drawing(gallette_gl, image_regression, drawing):
    import classic  # imports PyOpenGL, which looks for OpenGL then

    getattr(classic, drawing)()
    image_regression(gallette_gl, drawing)
