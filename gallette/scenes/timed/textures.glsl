// --- mipmaps.vertex ---
#version 330
in vec3 position;
in vec2 uv;
uniform mat4 matrix;
out vec2 at;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    at = uv * 24.0;
}

// --- mipmaps.fragment ---
#version 330
uniform sampler2D image;
in vec2 at;
out vec4 color;
void main() {
    color = texture(image, at);
}

// --- blur.fragment ---
#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    vec2 texel = 1.0 / vec2(textureSize(image, 0));
    vec4 sum = vec4(0.0);
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++)
            sum += texture(image, uv + vec2(x, y) * texel);
    color = sum / 49.0;
}

// --- four_targets.write ---
#version 330
in vec2 uv;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out vec4 c;
layout(location = 3) out vec4 d;
void main() {
    a = vec4(uv, 0.5, 1.0);
    b = vec4(uv.yx, uv.x * uv.y, 1.0);
    c = vec4(fract(uv * 7.0), 0.25, 1.0);
    d = vec4(1.0 - uv, uv.x, 1.0);
}

// --- four_targets.read ---
#version 330
uniform sampler2D a;
uniform sampler2D b;
uniform sampler2D c;
uniform sampler2D d;
in vec2 uv;
out vec4 color;
void main() {
    color = 0.25 * (texture(a, uv) + texture(b, uv) + texture(c, uv) + texture(d, uv));
}
