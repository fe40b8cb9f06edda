// --- source ---
#version 330
in vec2 uv;
out vec4 color;
void main() {
    vec2 cell = fract(uv * vec2(8.0, 6.0)) - 0.5;
    float dot_ = step(length(cell), 0.18);
    color = vec4(dot_ * vec3(uv, 1.0 - uv.x) + vec3(0.05), 1.0);
}

// --- blur ---
#version 330
uniform sampler2D image;
uniform vec2 along;
in vec2 uv;
out vec4 color;
const float weights[5] = float[5](0.227027, 0.1945946, 0.1216216, 0.054054, 0.016216);
void main() {
    vec4 sum = texture(image, uv) * weights[0];
    for (int i = 1; i < 5; i++)
        sum += (texture(image, uv + along * float(i)) + texture(image, uv - along * float(i)))
            * weights[i];
    color = vec4(sum.rgb, 1.0);
}

// --- combine ---
#version 330
uniform sampler2D image;
uniform sampler2D glow;
in vec2 uv;
out vec4 color;
void main() {
    vec3 c = texture(image, uv).rgb + 1.5 * texture(glow, uv).rgb;
    color = vec4(c / (1.0 + c), 1.0);
}
