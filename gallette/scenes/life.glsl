// --- fragment ---
#version 330
uniform sampler2D cells;
out vec4 color;
void main() {
    ivec2 size = textureSize(cells, 0);
    ivec2 here = ivec2(gl_FragCoord.xy);
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            ivec2 at = (here + ivec2(dx, dy) + size) % size;
            around += int(texelFetch(cells, at, 0).r > 0.5);
        }
    vec4 was = texelFetch(cells, here, 0);
    int self = int(was.r > 0.5);
    bool alive = around - self == 3 || (self == 1 && around - self == 2);
    // Green remembers for how long a cell has been dead.
    color = vec4(alive, alive ? 1.0 : max(was.g - 0.125, 0.0), was.b * 0.5, 1.0);
}
