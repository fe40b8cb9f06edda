// --- vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform vec3 scale;
uniform vec3 offset;
uniform mat4 matrix;
out vec3 local;
out vec3 n;
void main() {
    vec3 square = position * position;
    float bump = 1.0 + 0.4 * position.x * square.y - 0.6 * square.z * square.x;
    vec3 scaled = position * scale * bump;
    vec3 world = scaled + offset;
    local = scaled;
    n = normal;
    gl_Position = matrix * vec4(world, 1.0);
}

// --- fragment ---
#version 330
in vec3 local;
in vec3 n;
out vec4 color;
void main() {
    float light = 0.3 + 0.7 * max(dot(normalize(n), vec3(0.48, 0.6, 0.64)), 0.0);
    vec3 stripes = 0.6 + 0.4 * sin(local * 17.0);
    color = vec4(stripes * light, 1.0);
}
