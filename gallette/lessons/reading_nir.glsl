// --- fragment ---
#version 330
in vec2 uv;
uniform float level;
out vec4 color;
void main() {
    float shade = uv.x * level;
    if (shade > 0.5) {
        shade = 1.0 - shade;
    }
    color = vec4(shade, shade, uv.y, 1.0);
}
