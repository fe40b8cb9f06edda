// --- sky_vertex ---
#version 330
in vec2 position;
out vec3 way;
void main() {
    gl_Position = vec4(position, 1.0, 1.0);
    way = vec3(position * vec2(0.6, 0.45), -1.0);
}

// --- sky_fragment ---
#version 330
uniform samplerCube sky;
in vec3 way;
out vec4 color;
void main() {
    color = vec4(textureLod(sky, way, 0.0).rgb, 1.0);
}

// --- ball_vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    p = position;
    n = normal;
}

// --- ball_fragment ---
#version 330
uniform samplerCube sky;
uniform vec3 eye;
in vec3 p;
in vec3 n;
out vec4 color;
void main() {
    vec3 r = reflect(p - eye, normalize(n));
    color = vec4(textureLod(sky, r, 0.0).rgb * 0.9 + 0.05, 1.0);
}
