// --- vertex ---
#version 330
in vec2 position;
out vec2 c;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    c = position * vec2(1.5, 1.15) - vec2(0.6, 0.0);
}

// --- fragment ---
#version 330
in vec2 c;
out vec4 color;
void main() {
    vec2 z = vec2(0.0);
    int rounds = 0;
    for (; rounds < 64; rounds++) {
        if (dot(z, z) > 4.0)
            break;
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    }
    float t = float(rounds) / 64.0;
    color = vec4(t, t * t, sqrt(t), 1.0);
}
