// --- vertex ---
#version 330
layout(std140) uniform Bones { mat4 bone[3]; };
in vec3 position;
in vec3 normal;
in vec3 weights;
uniform mat4 matrix;
out vec3 n;
out vec3 paint;
void main() {
    mat4 skin = bone[0] * weights.x + bone[1] * weights.y + bone[2] * weights.z;
    gl_Position = matrix * skin * vec4(position, 1.0);
    n = mat3(skin) * normal;
    paint = weights * 0.5 + 0.4;
}

// --- fragment ---
#version 330
in vec3 n;
in vec3 paint;
out vec4 color;
void main() { color = vec4(paint * (0.6 + 0.4 * n.x), 1.0); }
