import moderngl
import pytest
import shapes

pytestmark = pytest.mark.gallette(version=(4, 3), size=(64, 64))


@pytest.mark.parametrize(
    "drawing",
    ["triangle", "gradient", "blended", "checker", "depth", "instances", "clipped", "glow",
     "smooth_edges"],
)  # fmt: skip
def test_drawing(gallette_context, image_regression, drawing):
    getattr(shapes, drawing)(gallette_context)
    image_regression(gallette_context.fbo, drawing)


@pytest.mark.parametrize("frequency", [10, 40])
def test_rings(gallette_context, image_regression, frequency):
    shapes.rings(gallette_context, frequency)
    image_regression(gallette_context.fbo, tolerance=2)  # sines are rounded in many ways


def test_a_smooth_checker(gallette_context, image_regression):
    shapes.checker(gallette_context, moderngl.LINEAR)
    image_regression(gallette_context.fbo, "smooth checker")


def test_histogram(gallette_context):
    assert shapes.histogram(gallette_context, [0, 63, 64, 200] * 8) == (16, 8, 0, 8)
