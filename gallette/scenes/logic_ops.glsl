// --- bits ---
#version 330
uniform ivec2 shift;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) / 2 + shift;
    color = vec4((at.x * 16) & 255, (at.y * 16) & 255, (at.x * at.y) & 255, 255) / 255.0;
}
