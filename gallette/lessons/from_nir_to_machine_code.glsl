// --- fragment ---
#version 330
in vec3 normal;
uniform vec3 light;
uniform int steps;
out vec4 color;
void main() {
    float shade = max(dot(normalize(normal), light), 0.0);
    for (int i = 0; i < steps; i++) {
        if (shade > 0.9) break;
        shade = shade * 1.1 + 0.01;
    }
    color = vec4(vec3(shade), 1.0);
}
