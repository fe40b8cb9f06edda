// --- vertex ---
#version 330
in vec3 position;
in vec3 tint;
out vec3 paint;
void main() { gl_Position = vec4(position, 1.0); paint = tint; }

// --- geometry ---
#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 18) out;
uniform mat4 faces[6];
in vec3 paint[];
out vec3 shade;
void main() {
    for (int face = 0; face < 6; face++) {
        gl_Layer = face;
        for (int i = 0; i < 3; i++) {
            gl_Position = faces[face] * gl_in[i].gl_Position;
            shade = paint[i];
            EmitVertex();
        }
        EndPrimitive();
    }
}

// --- fragment ---
#version 330
in vec3 shade;
out vec4 color;
void main() { color = vec4(shade, 1.0); }

// --- show ---
#version 330
uniform samplerCube around;
uniform vec2 scale;
out vec4 color;
void main() {
    vec2 at = gl_FragCoord.xy * scale * vec2(4.0, 3.0);
    ivec2 cell = ivec2(at);
    vec2 p = fract(at) * 2.0 - 1.0;
    vec3 d = vec3(0.0);
    if (cell.y == 1) d = cell.x == 0 ? vec3(-1.0, p.y, p.x) : cell.x == 1 ? vec3(p.x, p.y, 1.0)
        : cell.x == 2 ? vec3(1.0, p.y, -p.x) : vec3(-p.x, p.y, -1.0);
    else if (cell.x == 1) d = cell.y == 2 ? vec3(p.x, 1.0, -p.y) : vec3(p.x, -1.0, p.y);
    color = d == vec3(0.0) ? vec4(0.0) : texture(around, d);
}
