// --- vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
void main() {
    p = position;
    n = normal;
    gl_Position = matrix * vec4(position, 1.0);
}

// --- fragment ---
#version 330
uniform vec3 lamp;
uniform vec3 eye;
in vec3 p;
in vec3 n;
out vec4 color;
void main() {
    vec3 l = normalize(lamp - p);
    vec3 v = normalize(eye - p);
    vec3 m = normalize(n);
    float diffuse = max(dot(m, l), 0.0);
    float shine = pow(max(dot(reflect(-l, m), v), 0.0), 24.0);
    color = vec4(vec3(0.9, 0.5, 0.2) * (0.1 + 0.8 * diffuse) + vec3(0.5) * shine, 1.0);
}
