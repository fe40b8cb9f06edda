// --- vertex ---
#version 330
in vec3 position;
out vec3 p;
void main() {
    p = position;
    gl_Position = vec4(position, 1.0);
}

// --- facets ---
#version 330
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
uniform mat4 matrix;
in vec3 p[];
flat out vec3 normal;
void main() {
    vec3 across = cross(p[1] - p[0], p[2] - p[0]);
    if (dot(across, across) == 0.0)
        return;
    for (int i = 0; i < 3; i++) {
        gl_Position = matrix * vec4(p[i], 1.0);
        normal = normalize(across);
        EmitVertex();
    }
    EndPrimitive();
}

// --- facet_color ---
#version 330
flat in vec3 normal;
out vec4 color;
void main() {
    color = vec4(vec3(0.25 + 0.6 * max(dot(normal, vec3(0.36, 0.48, 0.8)), 0.0)), 1.0);
}

// --- spikes ---
#version 330
layout(triangles) in;
layout(line_strip, max_vertices = 2) out;
uniform mat4 matrix;
in vec3 p[];
flat out int id;
void main() {
    vec3 middle = (p[0] + p[1] + p[2]) * 0.333333;
    for (int i = 0; i < 2; i++) {
        gl_Position = matrix * vec4(middle * (1.0 + 0.25 * float(i)), 1.0);
        id = gl_PrimitiveIDIn;
        EmitVertex();
    }
}

// --- spike_color ---
#version 330
flat in int id;
out vec4 color;
void main() {
    color = vec4(float(id % 5) * 0.25, 0.8, 1.0 - float(id % 3) * 0.5, 1.0);
}
