// --- vertex ---
#version 330
in vec2 position;
uniform vec3 place;
void main() { gl_Position = vec4(position * 0.25 + place.xy, place.z, 1.0); }

// --- fragment ---
#version 330
uniform vec3 tint;
out vec4 color;
void main() { color = vec4(tint, 1.0); }
