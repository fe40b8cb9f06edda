// --- vertex ---
#version 330
in vec2 corner;
in vec4 place;
in vec2 turn;
flat out vec3 tint;
void main() {
    vec2 turned = mat2(turn, -turn.y, turn.x) * corner;
    gl_Position = vec4(place.xy + turned * place.z, 0.0, 1.0);
    tint = vec3(float(gl_InstanceID % 7) / 6.0, place.xy * 0.5 + 0.5);
}

// --- fragment ---
#version 330
flat in vec3 tint;
out vec4 color;
void main() {
    color = vec4(tint, 1.0);
}
