"""The shaders of random programs: small, exact, one feature each."""

from __future__ import annotations

VERTEX = {
    "plain": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv;
            gl_PointSize = 3.0;
        }""",
    "flat": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        flat out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv; gl_PointSize = 5.0;
        }""",
    "clipped": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        out float gl_ClipDistance[2];
        void main() {
            gl_Position = position + offset; v_color = color; v_uv = uv; gl_PointSize = 1.0;
            gl_ClipDistance[0] = position.x + 0.5; gl_ClipDistance[1] = 0.5 - position.y;
        }""",
    "instanced": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset * float(gl_InstanceID + 1);
            v_color = color.gbra; v_uv = uv; gl_PointSize = float(2 + (gl_VertexID & 1));
        }""",
    "blocks": """
        in vec4 position; in vec4 color; in vec2 uv;
        uniform vec4 offset;
        layout(std140) uniform Block { vec4 shift; vec4 shade[3]; };
        out vec4 v_color; out vec2 v_uv;
        void main() {
            gl_Position = position + offset + vec4(shift.xy * 0.25, 0.0, 0.0);
            v_color = color * shade[gl_VertexID % 3]; v_uv = uv; gl_PointSize = 2.0;
        }""",
}
FRAGMENT = {
    "color": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = v_color * tint; }""",
    "flat": """
        flat in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = v_color * tint; }""",
    "textured": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2D image; out vec4 result;
        void main() {
            // Coordinates that every implementation has exactly, on both sides of the borders.
            vec2 at = (gl_FragCoord.xy - 8.0 + 8.0 * tint.xy) / 16.0;
            result = texture(image, at) * v_color;
        }""",
    "fetched": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2D image; out vec4 result;
        void main() {
            ivec2 at = min(ivec2(gl_FragCoord.xy) & 3, max(textureSize(image, 0) - 1, 0));
            result = texelFetch(image, at, 0) + tint * 0.25;
        }""",
    "discarding": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() {
            if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 1) == 0) discard;
            result = v_color * tint;
        }""",
    "facing": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = gl_FrontFacing ? tint : vec4(tint.brg, 0.5); }""",
    "deep": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        void main() { result = tint; gl_FragDepth = v_color.r > 0.4 ? 0.25 : 0.75; }""",
    "two": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result; out vec4 second;
        void main() { result = tint; second = v_color; }""",
    "sampled": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2D image; out vec4 result;
        void main() {
            vec2 at = (gl_FragCoord.xy - 4.0) / 8.0;
            result = textureLod(image, at, tint.r * 4.0) * tint.g;
            result += textureOffset(image, at, ivec2(1, -1));
        }""",
    "layered": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2DArray image;
        out vec4 result;
        void main() {
            vec3 at = vec3((gl_FragCoord.xy - 8.0) / 8.0, tint.a * 4.0 - 1.0);
            result = texture(image, at) * v_color;
        }""",
    "shadowed": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; uniform sampler2DShadow image;
        out vec4 result;
        void main() {
            vec2 at = (gl_FragCoord.xy - 8.0) / 16.0;
            result = vec4(texture(image, vec3(at, tint.r)), v_color.gba);
        }""",
    "block": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out vec4 result;
        layout(std140) uniform Block { vec4 shift; vec4 shade[3]; };
        void main() { result = v_color * shade[int(gl_FragCoord.x) % 3] + shift * tint; }""",
    "signed": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out ivec4 result;
        void main() { result = ivec4(tint * 80.0) - ivec4(gl_FragCoord.xyxy); }""",
    "unsigned": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint; out uvec4 result;
        void main() { result = uvec4(tint * 80.0) + uvec4(gl_FragCoord.xyxy); }""",
    "dual": """
        in vec4 v_color; in vec2 v_uv; uniform vec4 tint;
        layout(location = 0, index = 0) out vec4 result;
        layout(location = 0, index = 1) out vec4 factor;
        void main() { result = tint; factor = v_color; }""",
}
# Fixed-function vertex outputs, for what only a compatibility context has.
OLD_VERTEX = """
    attribute vec4 position; attribute vec4 color; attribute vec2 uv; uniform vec4 offset;
    void main() {
        gl_Position = position + offset; gl_ClipVertex = position; gl_PointSize = 3.0;
        gl_FrontColor = color; gl_BackColor = color.gbra; gl_TexCoord[0] = vec4(uv, 0.0, 1.0);
    }"""
OLD_FRAGMENT = """
    uniform vec4 tint;
    void main() { gl_FragColor = gl_Color * tint; }"""
