// --- ground ---
#version 330
out vec4 color;
void main() {
    ivec2 cell = ivec2(gl_FragCoord.xy) / 12;
    color = ((cell.x + cell.y) & 1) == 0 ? vec4(0.9, 0.9, 0.8, 1.0) : vec4(0.2, 0.3, 0.4, 1.0);
}

// --- glass ---
#version 330
layout(location = 0, index = 0) out vec4 own;
layout(location = 0, index = 1) out vec4 through;
uniform vec2 scale;
void main() {
    vec2 at = gl_FragCoord.xy * scale;
    own = vec4(0.0625, 0.0, 0.03125, 0.0);
    through = vec4(at.x, at.y, 1.0 - at.x, 1.0);
}
