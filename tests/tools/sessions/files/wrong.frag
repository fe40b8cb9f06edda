#version 330
out vec4 color;
void main() { colour = vec4(1.0); }
