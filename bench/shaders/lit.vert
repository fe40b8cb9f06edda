#version 330
in vec3 position; in vec3 normal; in vec2 texcoord;
uniform mat4 model, view, projection; uniform mat3 normal_matrix; uniform float time;
out vec3 world; out vec3 n; out vec2 uv;
vec3 wobble(vec3 p, float t) { float s = sin(p.x * SALT + t) * 0.1; return p + vec3(0.0, s, s * 0.5); }
void main() {
    vec3 p = wobble(position, time);
    vec4 w = model * vec4(p, 1.0);
    world = w.xyz;
    n = normalize(normal_matrix * normal);
    uv = texcoord * 2.0;
    gl_Position = projection * view * w;
}
