"""Sources of the newer stages: each fits before and behind each other one of the right kinds."""

from __future__ import annotations

__all__ = ["COMPUTE", "EVALUATION", "FRAGMENT", "GEOMETRY", "HEAD", "KINDS", "VERTEX"]

HEAD = "#version 450\n"
_OUT = "out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };"
_IN = "in gl_PerVertex { vec4 gl_Position; float gl_PointSize; } gl_in[];"
VERTEX = {
    "arrays": f"""
        layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
        layout(location = 2) in vec2 uv;
        layout(location = 0) uniform vec4 offset;
        layout(location = 0) out vec4 v_color; layout(location = 1) out vec2 v_uv; {_OUT}
        void main() {{
            gl_Position = position + offset; gl_PointSize = 3.0; v_color = color; v_uv = uv;
        }}""",
    "pulled": f"""
        struct Vertex {{ float words[10]; }};
        layout(std430, binding = 0) readonly buffer Vertices {{ Vertex vertices[]; }};
        layout(location = 0) uniform vec4 offset;
        layout(location = 0) out vec4 v_color; layout(location = 1) out vec2 v_uv; {_OUT}
        vec4 four(int at) {{
            Vertex v = vertices[gl_VertexID % vertices.length()];
            return vec4(v.words[at], v.words[at + 1], v.words[at + 2], v.words[at + 3]);
        }}
        void main() {{
            gl_Position = four(0) + offset * float(gl_InstanceID + 1); gl_PointSize = 3.0;
            v_color = four(4); v_uv = four(6).zw;
        }}""",
    "doubles": f"""
        layout(location = 0) in vec4 position; layout(location = 1) in vec4 color;
        layout(location = 0) uniform vec4 offset;
        layout(location = 0) out vec4 v_color; layout(location = 1) out vec2 v_uv; {_OUT}
        void main() {{
            dvec4 at = dvec4(position) * 0.5LF + dvec4(offset);
            gl_Position = vec4(at.xyz, 1.0); gl_PointSize = 5.0;
            v_color = vec4(unpackHalf2x16(packHalf2x16(color.xy)), color.zw); v_uv = vec2(0.25);
        }}""",
}
CONTROL = f"""
    layout(vertices = 3) out; {_IN}
    out gl_PerVertex {{ vec4 gl_Position; float gl_PointSize; }} gl_out[];
    layout(location = 0) in vec4 v_color[]; layout(location = 1) in vec2 v_uv[];
    layout(location = 0) out vec4 c_color[]; layout(location = 1) out vec2 c_uv[];
    void main() {{
        gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
        c_color[gl_InvocationID] = v_color[gl_InvocationID];
        c_uv[gl_InvocationID] = v_uv[gl_InvocationID];
        gl_TessLevelOuter[0] = 2.0; gl_TessLevelOuter[1] = 1.0; gl_TessLevelOuter[2] = 4.0;
        gl_TessLevelOuter[3] = 2.0; gl_TessLevelInner[0] = 2.0; gl_TessLevelInner[1] = 2.0;
    }}"""


def _evaluation(how: str, weights: str, moved: str = "") -> str:
    def mix(name: str) -> str:
        return " + ".join(f"{weight} * {name.replace('#', str(i))}"
                          for i, weight in enumerate(weights.split(", ")))  # fmt: skip

    return f"""
        layout({how}) in; {_IN} {_OUT}
        layout(location = 0) in vec4 c_color[]; layout(location = 1) in vec2 c_uv[];
        layout(location = 0) out vec4 v_color; layout(location = 1) out vec2 v_uv;
        void main() {{
            vec3 b = gl_TessCoord;
            gl_Position = {mix("gl_in[#].gl_Position")}{moved}; gl_PointSize = 2.0;
            v_color = c_color[0] * 0.5 + c_color[1] * 0.25; v_uv = c_uv[0];
        }}"""


EVALUATION = {
    "triangles": _evaluation("triangles, equal_spacing", "b.x, b.y, b.z"),
    "clockwise": _evaluation("triangles, equal_spacing, cw", "b.x, b.y, b.z"),
    "quads": _evaluation("quads, equal_spacing", "b.x, b.y, (1.0 - b.x - b.y)"),
    "points": _evaluation("triangles, equal_spacing, point_mode", "b.x, b.y, b.z", " + 0.0078125"),
}


def _geometry(made: str, body: str, often: int = 1) -> str:
    return f"""
        layout(triangles, invocations = {often}) in; layout({made}) out; {_IN} {_OUT}
        layout(location = 0) in vec4 v_color[]; layout(location = 1) in vec2 v_uv[];
        layout(location = 0) out vec4 g_color; layout(location = 1) out vec2 g_uv;
        void one(int i, vec4 moved) {{
            gl_Position = gl_in[i].gl_Position + moved; gl_PointSize = 3.0;
            g_color = v_color[i]; g_uv = v_uv[i]; gl_PrimitiveID = gl_PrimitiveIDIn + 1;
            EmitVertex();
        }}
        void all(vec4 moved, int layer, int view) {{
            for (int i = 0; i < 3; i++) {{
                gl_Layer = layer; gl_ViewportIndex = view; one(i, moved);
            }}
            EndPrimitive();
        }}
        void main() {{ {body} }}"""


GEOMETRY = {
    "layers": _geometry(
        "triangle_strip, max_vertices = 3", "all(vec4(0.0), gl_InvocationID, 0);", often=2
    ),
    "viewports": _geometry(
        "triangle_strip, max_vertices = 6",
        "all(vec4(0.0), 0, 1); all(vec4(0.25, 0.0, 0.0, 0.0), 0, 0);",
    ),
    "points": _geometry(
        "points, max_vertices = 3",
        "gl_Layer = 0; gl_ViewportIndex = 0; for (int i = 0; i < 3; i++) one(i, vec4(0.015625));",
    ),
    "some": _geometry(
        "triangle_strip, max_vertices = 4",
        "if ((gl_PrimitiveIDIn & 1) == 0) all(vec4(0.0), 1, gl_PrimitiveIDIn >> 1 & 1);",
    ),
}

_FRAGMENT_HEAD = """
    layout(location = 0) in vec4 v_color; layout(location = 1) in vec2 v_uv;
    layout(location = 1) uniform vec4 tint; layout(location = 0) out vec4 result;
    ivec2 here = ivec2(gl_FragCoord.xy);
"""


def _sampled(kind: str, expression: str) -> str:
    return f"""{_FRAGMENT_HEAD}
    layout(binding = 0) uniform {kind} image;
    void main() {{ result = vec4({expression}) * tint; }}"""


FRAGMENT = {
    "color": f"{_FRAGMENT_HEAD} void main() {{ result = v_color * tint; }}",
    "counted": f"""{_FRAGMENT_HEAD}
        layout(r32ui, binding = 0) uniform uimage2D counts;
        void main() {{ imageAtomicAdd(counts, here & 7, 1u); result = v_color; }}""",
    "early": f"""layout(early_fragment_tests) in; {_FRAGMENT_HEAD}
        layout(r32ui, binding = 0) uniform uimage2D counts;
        void main() {{ imageAtomicAdd(counts, here & 7, 3u); if (v_uv.x > 0.5) discard;
            result = tint; }}""",
    "summed": f"""{_FRAGMENT_HEAD}
        layout(std430, binding = 1) buffer Sums {{ uint sums[16]; int most[16]; }};
        void main() {{
            atomicAdd(sums[here.x & 15], uint(here.y)); atomicMax(most[here.y & 15], here.x);
            result = v_color.bgra;
        }}""",
    "loaded": f"""{_FRAGMENT_HEAD}
        layout(r32ui, binding = 0) readonly uniform uimage2D counts;
        void main() {{
            uint n = imageLoad(counts, here & 7).r;
            result = vec4(float(n & 3u), float(n >> 2 & 3u), float(n >> 4 & 3u), 3.0) / 3.0;
        }}""",
    "numbered": f"""{_FRAGMENT_HEAD}
        void main() {{
            result = vec4(float(gl_PrimitiveID & 3), float(gl_Layer), float(gl_ViewportIndex), 3.0)
                / 3.0;
        }}""",
    "indexed": f"""{_FRAGMENT_HEAD}
        layout(std140, binding = 0) uniform Colors {{ vec4 colors[4]; }} blocks[2];
        void main() {{ result = blocks[1].colors[here.x & 3] * blocks[0].colors[here.y & 3]; }}""",
    "chosen": f"""{_FRAGMENT_HEAD}
        subroutine vec4 Choice(vec4 color);
        subroutine(Choice) vec4 plain(vec4 color) {{ return color; }}
        subroutine(Choice) vec4 turned(vec4 color) {{ return color.gbra; }}
        subroutine uniform Choice choice;
        void main() {{ result = choice(v_color); }}""",
    "flat": f"""{_FRAGMENT_HEAD.replace("in vec4 v_color", "flat in vec4 v_color")}
        void main() {{ result = v_color; }}""",
    "sampled_each": f"""{_FRAGMENT_HEAD}
        void main() {{ result = vec4(float(gl_SampleID & 1), float(gl_SampleID >> 1 & 1), 1.0,
            float(gl_SampleMaskIn[0] & 15) / 15.0); }}""",
    "line": _sampled("sampler1D", "texelFetch(image, here.x & 7, 0)"),
    "plane": _sampled("sampler2D", "textureGather(image, (vec2(here) + 1.0) / 8.0, 1)"),
    "volume": _sampled("sampler3D", "texture(image, (vec3(here, here.x >> 2) + 0.5) / 8.0)"),
    "cube": _sampled("samplerCube", "textureLod(image, vec3(vec2(here & 7) - 3.25, 8.0), 0.0)"),
    "layers": _sampled(
        "sampler2DArray", "texture(image, vec3((vec2(here) + .5) / 8.0, here.x / 9))"
    ),
    "cubes": _sampled(
        "samplerCubeArray", "texture(image, vec4(8.0, vec2(here & 7) - 3.25, here.y >> 4))"
    ),
    "rectangle": _sampled("sampler2DRect", "texture(image, vec2(here & 7) + 0.5)"),
    "buffer": _sampled("samplerBuffer", "texelFetch(image, (here.x + here.y) & 31)"),
    "signed": _sampled("isampler2D", "vec4(texelFetch(image, here & 7, 0) & 3) / 3.0"),
    "unsigned": _sampled(
        "usampler2D", "vec4(textureLod(image, (vec2(here) + .5) / 8., 0.) & 3u) / 3."
    ),
    "samples": _sampled("sampler2DMS", "texelFetch(image, here & 7, here.x & 3)"),
    "sizes": _sampled(
        "sampler2DArray", "vec4(textureSize(image, 0), textureQueryLevels(image)) / 8.0"
    ),
}
KINDS = {
    "line": "1d", "plane": "2d", "volume": "3d", "cube": "cube", "layers": "array",
    "cubes": "cubes", "rectangle": "rect", "buffer": "buffer", "signed": "i", "unsigned": "u",
    "samples": "ms", "sizes": "array",
}  # fmt: skip
"""which texture a fragment shader reads"""
COMPUTE = {
    "filled": """
        layout(local_size_x = 4, local_size_y = 4) in;
        layout(r32ui, binding = 0) uniform uimage2D counts;
        layout(location = 1) uniform vec4 tint;
        void main() {
            ivec2 at = ivec2(gl_GlobalInvocationID.xy) & 7;
            uint n = uint(tint.x * 4.0) + gl_LocalInvocationIndex;
            imageAtomicXor(counts, at, n);
        }""",
    "shared": """
        layout(local_size_x = 16) in;
        layout(std430, binding = 1) buffer Sums { uint sums[16]; int most[16]; };
        shared uint parts[16];
        void main() {
            uint i = gl_LocalInvocationIndex;
            parts[i] = i * gl_WorkGroupID.x + 1u;
            barrier();
            uint total = 0u;
            for (uint k = 0u; k <= i; k++) total += parts[k];
            atomicAdd(sums[i], total); atomicMin(most[i], int(gl_WorkGroupID.x) - 5);
        }""",
    "moved": """
        layout(local_size_x = 8) in;
        layout(std430, binding = 0) buffer Vertices { float words[]; };
        layout(location = 1) uniform vec4 tint;
        void main() {
            uint at = gl_GlobalInvocationID.x * 10u;
            if (at + 1u < uint(words.length())) {
                words[at] = clamp(words[at] + tint.x - 0.5, -1.25, 1.25);
                words[at + 4u] = tint.y;
            }
        }""",
}
