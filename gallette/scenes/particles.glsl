// --- move ---
#version 330
in vec2 place;
in vec2 speed;
out vec2 new_place;
out vec2 new_speed;
void main() {
    vec2 pull = -place * 0.0625;
    new_speed = speed + pull;
    new_place = place + new_speed * 0.25;
}

// --- vertex ---
#version 330
in vec2 place;
in vec2 speed;
out vec2 v;
void main() {
    gl_Position = vec4(place, 0.0, 1.0);
    gl_PointSize = 4.0;
    v = speed;
}

// --- fragment ---
#version 330
in vec2 v;
out vec4 color;
void main() {
    color = vec4(0.5 + v, 1.0 - abs(v.x), 1.0);
}
