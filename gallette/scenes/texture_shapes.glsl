// --- fragment ---
#version 420
layout(binding = 0) uniform sampler1D line;
layout(binding = 1) uniform sampler1DArray lines;
layout(binding = 2) uniform samplerCubeArray cubes;
layout(binding = 3) uniform sampler3D block;
uniform int which;
uniform vec2 scale;
out vec4 color;
void main() {
    vec2 at = gl_FragCoord.xy * scale;
    if (which == 0) color = texture(line, at.x);
    else if (which == 1) color = texture(lines, vec2(at.x, floor(at.y * 4.0)));
    else if (which == 2) {
        vec2 p = fract(at * vec2(3.0, 2.0)) * 2.0 - 1.0;
        ivec2 cell = ivec2(at * vec2(3.0, 2.0));
        vec3 direction = vec3(p, 1.0);
        if (cell.x < 2) direction = cell.x == 0 ? vec3(1.0, p) : vec3(p.x, 1.0, p.y);
        color = texture(cubes, vec4(cell.y == 0 ? direction : -direction, float(cell.y)));
    } else color = texture(block, vec3(at, at.x * 0.5 + at.y * 0.5));
    color.a = 1.0;
}
