// --- fragment ---
#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 color;
layout(std140, binding = 0) uniform Light { vec4 tint; float levels[4]; };
float step_of(float x)
{
    float total = 0.0;
    for (int i = 0; i < 4; i++) {
        if (levels[i] > x) break;
        total += 0.25;
    }
    return total;
}
void main()
{
    precise float wave = sin(place.x) * 0.5 + 0.5;
    color = tint * step_of(wave);
}
