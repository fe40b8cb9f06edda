// --- fragment ---
#version 400
uniform vec2 half_size;
out vec4 color;
void main() {
    REAL step = REAL(1.0) / REAL(32768.0) / REAL(32768.0);
    precise REAL x = REAL(-0.7462950486755371LF) + REAL(gl_FragCoord.x - half_size.x) * step;
    precise REAL y = REAL(0.11352941879272462LF) + REAL(gl_FragCoord.y - half_size.y) * step;
    precise REAL a = REAL(0.0), b = REAL(0.0), t;
    int i = 0;
    for (; i < 600 && a * a + b * b < REAL(4.0); i++) {
        t = a * a - b * b + x;
        b = REAL(2.0) * a * b + y;
        a = t;
    }
    vec2 paint = vec2(i & 31, i >> 5 & 7) / vec2(31.0, 7.0);
    color = i == 600 ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(paint, 0.5, 1.0);
}
