// --- bilinear_texture ---
#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    color = texture(image, uv * 1.7 + 0.1);
}

// --- mandelbrot ---
#version 330
in vec2 uv;
out vec4 color;
void main() {
    vec2 c = (uv - vec2(0.72, 0.5)) * 2.6;
    vec2 z = vec2(0.0);
    int rounds = 0;
    for (; rounds < 128; rounds++) {
        if (dot(z, z) > 4.0)
            break;
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    }
    color = vec4(vec3(float(rounds) / 128.0), 1.0);
}

// --- overdraw.fragment ---
#version 330
in vec3 p;
out vec4 color;
void main() {
    vec3 v = p;
    for (int i = 0; i < 8; i++)
        v = fract(v * 1.7 + v.yzx * 0.3);
    color = vec4(sqrt(v), 1.0);
}

// --- small_draws.vertex ---
#version 330
in vec2 position;
uniform vec2 place;
void main() {
    gl_Position = vec4(position * 0.02 + place, 0.0, 1.0);
}

// --- small_draws.fragment ---
#version 330
uniform vec2 place;
out vec4 color;
void main() {
    color = vec4(place * 0.5 + 0.5, 0.5, 1.0);
}
