"""The language being compiled: version, profile, extensions, and whether it has a feature.

Every feature of GLSL that depends on the version has a short *availability* string, which is
checked with `lang.has("130 es300 EXT_gpu_shader4")`. The words are alternatives:

* `130` desktop 1.30 or later, `es300` ES 3.00 or later, a name: that extension is enabled;
* `110-130` desktop 1.10 to 1.30, `es100-es100` likewise; `compat` any compatibility language;
* `a+b` both a and b; `core`, `es`, `desktop`; `*` always.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

DESKTOP_VERSIONS = (110, 120, 130, 140, 150, 330, 400, 410, 420, 430, 440, 450, 460)
ES_VERSIONS = (100, 300, 310, 320)

# Extensions the compiler knows, by the APIs that have them; a driver lists those it supports.
_GL = """
AMD_conservative_depth AMD_gpu_shader_int64 AMD_shader_stencil_export AMD_shader_trinary_minmax
AMD_texture_texture4 AMD_vertex_shader_layer AMD_vertex_shader_viewport_index
ARB_arrays_of_arrays ARB_bindless_texture ARB_compatibility ARB_compute_shader
ARB_compute_variable_group_size ARB_conservative_depth ARB_cull_distance ARB_derivative_control
ARB_draw_buffers ARB_draw_instanced ARB_enhanced_layouts ARB_ES3_1_compatibility
ARB_ES3_2_compatibility ARB_explicit_attrib_location ARB_explicit_uniform_location
ARB_fragment_coord_conventions ARB_fragment_layer_viewport ARB_fragment_shader_interlock
ARB_geometry_shader4 ARB_gpu_shader5 ARB_gpu_shader_fp64 ARB_gpu_shader_int64
ARB_post_depth_coverage ARB_sample_shading ARB_separate_shader_objects ARB_shader_atomic_counter_ops
ARB_shader_atomic_counters ARB_shader_ballot ARB_shader_bit_encoding ARB_shader_clock
ARB_shader_draw_parameters ARB_shader_group_vote ARB_shader_image_load_store
ARB_shader_image_size ARB_shader_precision ARB_shader_stencil_export
ARB_shader_storage_buffer_object ARB_shader_subroutine ARB_shader_texture_image_samples
ARB_shader_texture_lod ARB_shader_viewport_layer_array ARB_shading_language_420pack
ARB_shading_language_include ARB_shading_language_packing ARB_tessellation_shader
ARB_texture_cube_map_array ARB_texture_gather ARB_texture_multisample ARB_texture_query_levels
ARB_texture_query_lod ARB_texture_rectangle
ARB_uniform_buffer_object ARB_vertex_attrib_64bit ARB_viewport_array EXT_gpu_shader4
EXT_separate_shader_objects EXT_shader_image_load_formatted EXT_shader_image_load_store
EXT_texture_array INTEL_conservative_rasterization
INTEL_fragment_shader_ordering NV_fragment_shader_interlock
NV_image_formats NV_shader_atomic_float NV_shader_atomic_int64 NV_viewport_array2
NV_compute_shader_derivatives EXT_shader_samples_identical NV_conservative_raster_underestimation
"""
_BOTH = """
ARM_shader_framebuffer_fetch_depth_stencil EXT_draw_instanced EXT_texture_query_lod
MESA_shader_integer_functions EXT_demote_to_helper_invocation EXT_shader_framebuffer_fetch
EXT_shader_framebuffer_fetch_non_coherent EXT_shader_integer_mix EXT_texture_shadow_lod
INTEL_shader_atomic_float_minmax INTEL_shader_integer_functions2
KHR_blend_equation_advanced EXT_shader_implicit_conversions NV_compute_shader_derivatives
INTEL_conservative_rasterization NV_fragment_shader_interlock EXT_shader_samples_identical
NV_viewport_array2
"""
_ES = """
NV_shader_noperspective_interpolation
ANDROID_extension_pack_es31a EXT_blend_func_extended EXT_clip_cull_distance EXT_draw_buffers
EXT_frag_depth EXT_geometry_point_size EXT_geometry_shader EXT_gpu_shader5
EXT_primitive_bounding_box EXT_separate_shader_objects EXT_shader_framebuffer_fetch
EXT_shader_group_vote EXT_shader_io_blocks EXT_shader_texture_lod EXT_tessellation_point_size
EXT_tessellation_shader EXT_texture_buffer EXT_texture_cube_map_array NV_image_formats
OES_EGL_image_external OES_EGL_image_external_essl3 OES_geometry_point_size OES_geometry_shader
OES_gpu_shader5 OES_primitive_bounding_box OES_sample_variables OES_shader_image_atomic
OES_shader_io_blocks OES_shader_multisample_interpolation OES_standard_derivatives
OES_tessellation_point_size OES_tessellation_shader OES_texture_3D OES_texture_buffer
OES_texture_cube_map_array OES_texture_storage_multisample_2d_array OES_viewport_array
EXT_texture_array
"""

EXTENSIONS: dict[str, str] = {}
"""name without `GL_` -> "gl", "es" or "both" """
for _name in _GL.split():
    EXTENSIONS[_name] = "gl"
for _name in _ES.split():
    EXTENSIONS[_name] = "both" if EXTENSIONS.get(_name) == "gl" else "es"
for _name in _BOTH.split():
    EXTENSIONS[_name] = "both"

_ES_300 = """
EXT_clip_cull_distance EXT_shader_group_vote EXT_shader_integer_mix EXT_texture_query_lod
EXT_texture_shadow_lod MESA_shader_integer_functions NV_shader_noperspective_interpolation
OES_EGL_image_external_essl3 OES_sample_variables OES_shader_multisample_interpolation
"""
_ES_310 = """
ANDROID_extension_pack_es31a EXT_geometry_point_size EXT_geometry_shader EXT_gpu_shader5
EXT_primitive_bounding_box EXT_shader_implicit_conversions EXT_shader_io_blocks
EXT_tessellation_point_size EXT_tessellation_shader EXT_texture_buffer EXT_texture_cube_map_array
NV_image_formats OES_geometry_point_size OES_geometry_shader OES_gpu_shader5
OES_primitive_bounding_box OES_shader_image_atomic OES_shader_io_blocks OES_tessellation_point_size
OES_tessellation_shader OES_texture_buffer OES_texture_cube_map_array
OES_texture_storage_multisample_2d_array OES_viewport_array
"""
ES_MINIMUM: dict[str, int] = {
    **dict.fromkeys(_ES_300.split(), 300),
    **dict.fromkeys(_ES_310.split(), 310),
}
"""Extensions that extend no version of GLSL ES below this one."""

IMPLIED: dict[str, tuple[str, ...]] = {
    "OES_geometry_shader": ("OES_shader_io_blocks",),
    "EXT_geometry_shader": ("EXT_shader_io_blocks",),
    "OES_tessellation_shader": ("OES_shader_io_blocks",),
    "EXT_tessellation_shader": ("EXT_shader_io_blocks",),
    "ANDROID_extension_pack_es31a": (
        "EXT_geometry_shader",
        "EXT_tessellation_shader",
        "EXT_shader_io_blocks",
        "EXT_gpu_shader5",
        "EXT_primitive_bounding_box",
        "EXT_texture_buffer",
        "EXT_texture_cube_map_array",
        "KHR_blend_equation_advanced",
        "OES_sample_variables",
        "OES_shader_image_atomic",
        "OES_shader_multisample_interpolation",
        "OES_texture_storage_multisample_2d_array",
    ),
    "ARB_compute_variable_group_size": ("ARB_compute_shader",),
    "EXT_shader_framebuffer_fetch": (),
}
"""Extensions, with those that they imply."""


_MOST_LANGUAGES = 256
_ANSWERS: dict[tuple[int, bool, bool, frozenset[str]], dict[str, bool]] = {}


@lazy_dataclass(eq=False)
class Language:
    """One dialect; mutable only while the preprocessor processes `#version` and `#extension`."""

    version: int = 110
    es: bool = False
    compat: bool = True
    extensions: set[str] = field(default_factory=set)
    warned: set[str] = field(default_factory=set)
    """extensions enabled with `warn`"""
    stage: str = ""
    strict: bool = False
    """is what `laxities` lists an error?"""
    _answers: dict[str, bool] | None = None
    """cached results of `has`, shared by all shaders in this language; None after a change"""
    _key: tuple[int, bool, bool, frozenset[str]] | None = None

    @property
    def name(self) -> str:
        """The language's name in messages: `GLSL 1.30`, `GLSL ES 3.00`."""
        kind = "GLSL ES" if self.es else "GLSL"
        return f"{kind} {self.version // 100}.{self.version % 100:02d}"

    @property
    def key(self) -> tuple[int, bool, bool, frozenset[str]]:
        """The part of the language that the sets of built-ins and keywords depend on."""
        key = self._key
        if key is None:
            key = self._key = self.version, self.es, self.compat, frozenset(self.extensions)
        return key

    @property
    def answers(self) -> dict[str, bool]:
        """The cached results of `has`, for all shaders in this language."""
        answers = self._answers
        if answers is None:
            if len(_ANSWERS) >= _MOST_LANGUAGES:
                _ANSWERS.clear()
            answers = self._answers = _ANSWERS.setdefault(self.key, {})
        return answers

    def has(self, availability: str) -> bool:
        """Whether this language has a feature with that availability."""
        answers = self._answers
        if answers is None:
            answers = self.answers
        known = answers.get(availability)
        if known is None:
            # Every word is evaluated, so that an unknown one is an error in all languages.
            known = True in [self._all(word) for word in availability.split()]
            answers[availability] = known
        return known

    def has_group(self, group: str) -> bool:
        """Whether it has the entries under a heading of a table of built-ins: availabilities, with
        the stages they are for, such as `150 @vertex,fragment | ARB_shadow`.
        """
        for alternative in group.split("|"):
            words, _, stages = alternative.partition("@")
            if self.has(words.strip()) and (not stages or self.stage in stages.strip().split(",")):
                return True
        return False

    def __reduce__(self) -> tuple[type[Language], tuple[object, ...]]:
        # Cached results do not count.
        kept = (self.version, self.es, self.compat, self.extensions, self.warned, self.stage)
        return Language, kept

    def become(self, version: int, es: bool, compat: bool) -> None:
        """Set the version of `#version`, or the default one."""
        self.version, self.es, self.compat = version, es, compat
        self._answers = self._key = None

    def copy(self, stage: str = "") -> Language:
        """A copy of the language for another shader."""
        extensions, warned, answers = set(self.extensions), set(self.warned), self.answers
        fresh = Language(self.version, self.es, self.compat, extensions, warned, stage, self.strict)
        fresh._answers, fresh._key = answers, self._key
        return fresh

    def enable(self, extension: str) -> None:
        self.extensions.add(extension)
        for other in IMPLIED.get(extension, ()):
            self.extensions.add(other)
        self._answers = self._key = None

    def disable(self, extension: str) -> None:
        self.extensions.discard(extension)
        self._answers = self._key = None

    def _all(self, word: str) -> bool:
        return False not in [self._one(part) for part in word.split("+")]

    def _one(self, word: str) -> bool:
        if word == "*":
            return True
        if word == "compat":
            return self.compat
        if word == "core":
            return not self.es and not self.compat
        if word == "desktop":
            return not self.es
        if word == "es":
            return self.es
        low, _, high = word.partition("-")
        es = low.startswith("es")
        digits = low[2:] if es else low
        if digits.isdigit():
            assert int(digits) in (ES_VERSIONS if es else DESKTOP_VERSIONS), word
            if es != self.es or self.version < int(digits):
                return False
            return not high or self.version <= int(high.removeprefix("es"))
        assert word in EXTENSIONS, word
        return word in self.extensions
