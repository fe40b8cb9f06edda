// --- depth_vertex ---
#version 330
in vec3 position;
uniform mat4 lamp_matrix;
void main() {
    gl_Position = lamp_matrix * vec4(position, 1.0);
}

// --- depth_fragment ---
#version 330
void main() {
}

// --- vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
uniform mat4 lamp_matrix;
out vec3 n;
out vec4 seen;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    seen = lamp_matrix * vec4(position, 1.0);
    n = normal;
}

// --- fragment ---
#version 330
uniform sampler2DShadow shadows;
uniform vec3 to_lamp;
in vec3 n;
in vec4 seen;
out vec4 color;
void main() {
    vec3 s = seen.xyz / seen.w * 0.5 + 0.5;
    float lit = texture(shadows, vec3(s.xy, s.z - 0.004));
    float diffuse = max(dot(normalize(n), to_lamp), 0.0) * lit;
    color = vec4(vec3(0.25, 0.3, 0.4) + vec3(0.7, 0.65, 0.5) * diffuse, 1.0);
}
