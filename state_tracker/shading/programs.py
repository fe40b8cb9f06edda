"""Shader and program objects: compiling, linking, and the driver's shaders of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gallette.compiler.glsl import (
    Attribute,
    CompileOptions,
    LinkOptions,
    compile_cached,
    link_cached,
    vertex_elements,
)
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import GL_NAMES
from gallette.compiler.nir.ir.slots import SystemValue, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import INT, Base
from gallette.pipe.interface import Handle
from gallette.pipe.shader_handover import shader_for_driver
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.lowering import NULL_KEY, LoweringKey, lower
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.gl_types import sampler_target
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.shading import builtin_uniforms
from gallette.state_tracker.shading.feedback import stream_output
from gallette.state_tracker.shading.named_strings import include_lookup
from gallette.state_tracker.shading.pipeline_rules import problem_of
from gallette.state_tracker.shading.shader_sources import Includes, ShaderSource, noting
from gallette.state_tracker.shading.spirv import SpirvState, link_binaries
from gallette.state_tracker.shading.uniform_storage import NO_UNIT, UniformStorage

if TYPE_CHECKING:
    from gallette.compiler.glsl import CompiledShader, LinkedProgram
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.interface_queries import Resource


def of_stages(name: str) -> dict[int, Stage]:
    """The enumerators of this name, which has the stage at `{}`."""
    return {getattr(GL, name.format(each)): stage for stage, each in GL_NAMES.items()}


STAGES = of_stages("{}_SHADER")


_OF_PROGRAM = (
    Dirty.PROGRAM
    | Dirty.CONSTANTS
    | Dirty.TEXTURES
    | Dirty.UNIFORM_BUFFERS
    | Dirty.BUILTINS
    | Dirty.RASTERIZER
    | Dirty.IMAGES
    | Dirty.STORAGE
)
"""State to derive again for another program."""
_SELECTS_PROGRAM = Dirty.PROGRAM | Dirty.BUILTINS
"""State that selects the shaders, besides the textures of fixed function."""


class ShaderObject(GLObject):
    """A shader object: source, and the result of compiling it."""

    kind = "shader"

    def __init__(self, name: int, type: int):
        super().__init__(name)
        self.type = type
        self.source = ""
        self.has_source = False
        self.compiled: CompiledShader | None = None
        self.spirv = SpirvState()
        self.origin = ShaderSource(type)  # of the compiled or specialised form
        self.delete_pending = False

    @property
    def stage(self) -> Stage:
        return STAGES[self.type]

    @property
    def ok(self) -> bool:
        return self.spirv.ok if self.spirv else self.compiled is not None and self.compiled.ok

    @property
    def info_log(self) -> str:
        if self.spirv:
            return self.spirv.log
        return self.compiled.info_log if self.compiled is not None else ""

    def compile(self, ctx: Context, include_folders: Sequence[str] = ()) -> None:
        # Only shaders with #include depend on the named strings.
        look = include_lookup(ctx, include_folders) if "include" in self.source else None
        included: Includes = {}
        self._compile(ctx, noting(look, included) if look is not None else None)
        self.origin = ShaderSource(self.type, self.source, tuple(included.items()))

    def restore(self, ctx: Context, origin: ShaderSource) -> None:
        """Compile or specialise from the recorded source of another shader object."""
        if origin.code:
            self.drop()
            self.spirv.take(origin.code)
            self.spirv.specialize(self.stage, origin.entry, origin.constants)
        else:
            self.source, self.has_source = origin.source, True
            self._compile(ctx, origin.look if origin.included else None)
        self.origin = origin

    def _compile(self, ctx: Context, include: Callable[[str, str], str | None] | None) -> None:
        self.drop()
        options = CompileOptions(
            api=ctx.glsl_api,
            version_limit=ctx.limits.language_limit,
            es_version_limit=ctx.limits.es_glsl_version,
            extensions=ctx.limits.glsl_extensions,
            limits=ctx.limits.glsl_limits,
            include=include,
        )
        self.compiled = compile_cached(self.stage, self.source, options)

    def drop(self) -> None:
        """Drop the compiled form."""
        self.compiled = None
        self.spirv = SpirvState()

    def destroy(self) -> None:
        self.drop()


_LAST_FIRST = (Stage.GEOMETRY, Stage.TESS_EVAL, Stage.VERTEX)
"""The stages whose outputs may be rasterized, the last in the pipeline first."""


class Sampler(NamedTuple):
    """A texture that a stage samples."""

    place: int  # index among the stage's textures
    units: list[int]  # as glUniform1i sets them
    element: int  # its index in `units`
    target: int
    scalar_shadow: bool  # shadow lookups return one number
    numbers: Base  # the type of lookup results
    fetched: bool  # texelFetch reads it, which decodes sRGB whatever the sampler says


class Executable:
    """A successfully linked program: tables, uniform values, and the driver's shaders.

    Relinking creates a new one; a program in use keeps the old one until then.
    """

    def __init__(self, ctx: Context, linked: LinkedProgram, glsl_version: int):
        self.group, self.linked, self.glsl_version = ctx.group, linked, glsl_version
        self.uniforms = UniformStorage(linked, ctx)
        self.handles: dict[tuple[Stage, LoweringKey], Handle] = {}
        self.block_bindings = [block.binding for block in linked.uniform_blocks]
        self.storage_bindings = [block.binding for block in linked.storage_blocks]
        self.inputs = self._vertex_inputs()
        self.flagged_inputs = (*self.inputs, (int(VertAttrib.EDGEFLAG), True))
        last = next((linked.shaders[s] for s in _LAST_FIRST if s in linked.shaders), None)
        written = last.info.outputs_written if last is not None else set()
        self.writes_point_size = VaryingSlot.PSIZ in written
        primitive = SystemValue["PRIMITIVE_ID"]
        shaders = linked.shaders.values()
        self.counts_primitives = any(primitive in s.info.system_values_read for s in shaders)
        vertex = SystemValue["VERTEX_ID"]
        self.counts_vertices = any(vertex in s.info.system_values_read for s in shaders)
        number = SystemValue["DRAW_ID"]
        self.counts_draws = any(number in s.info.system_values_read for s in shaders)
        self.textures = self._texture_slots()
        self.sampled = {stage: self._samplers(stage) for stage in self.textures}
        uniforms = list(enumerate(linked.uniforms))
        self.images = [each for each in uniforms if each[1].type.without_array.is_image]
        self.handle_uniforms = [
            (index, uniform) for index, uniform in uniforms if uniform.is_handle
        ]
        slots = sum(len(each) for each in self.sampled.values())
        self.samplers = slots + len(self.handle_uniforms)
        self.attributes = self._active_attributes()
        self.fill: Callable[[Context], None] | None = None  # uniforms without locations
        self.resources: dict[int, list[Resource]] = {}  # of interfaces that have been asked for
        self.on_destroy: list[Callable[[Executable], None]] = []
        self.is_fixed_function = False
        self.has_builtins = any(u.builtin for u in linked.uniforms)
        self.builtin_places = builtin_uniforms.places(linked, self.uniforms.data)

    def _vertex_inputs(self) -> tuple[tuple[int, bool], ...]:
        """Per vertex element of the driver: attribute slot, and whether the shader reads it."""
        if self.linked.elements is not None:
            return self.linked.elements
        shader = self.linked.shaders.get(Stage.VERTEX)
        return vertex_elements(shader) if shader is not None else ()

    def _active_attributes(self) -> list[Attribute]:
        """The linker's attributes and the vertex shader's system values, which GL counts, too."""
        found = list(self.linked.attributes)
        shader = self.linked.shaders.get(Stage.VERTEX)
        read = shader.info.system_values_read if shader is not None else set()
        for value, name in (
            (SystemValue["VERTEX_ID"], "gl_VertexID"),
            (SystemValue["INSTANCE_ID"], "gl_InstanceID"),
        ):
            if value in read and all(a.name != name for a in found):
                found.append(Attribute(name, INT, -1, 0))
        return found

    def _texture_slots(self) -> dict[Stage, list[tuple[int, int, Any]]]:
        """Per stage: (first unit in the NIR, index into `linked.uniforms`, sampler type)."""
        slots: dict[Stage, list[tuple[int, int, Any]]] = {}
        for index, uniform in enumerate(self.linked.uniforms):
            kind = uniform.type.without_array
            if not kind.is_sampler:
                continue
            for stage, first in uniform.opaque_index.items():
                slots.setdefault(stage, []).append((first, index, kind))
        return slots

    def _samplers(self, stage: Stage) -> tuple[Sampler, ...]:
        """The samplers of a stage, by unit of the NIR."""
        found, info = [], self.linked.shaders[stage].info
        for first, index, kind in self.textures[stage]:
            scalar = kind.is_shadow and self.glsl_version >= 130
            units = self.uniforms.units[index]
            target = sampler_target(kind)
            places = range(first, first + len(units))
            fetched = info.textures_fetched.intersection(places)
            if fetched and info.uses_indirect_textures:
                fetched = set(places)
            found += [
                Sampler(place, units, i, target, scalar, kind.sampled, place in fetched)
                for i, place in enumerate(places)
            ]
        return tuple(found)

    def unit_places(self, image: bool) -> Iterator[tuple[int, Any, int]]:
        """Uniforms that may be handles but are set to units: place, type, unit."""
        for index, uniform in self.handle_uniforms:
            kind = uniform.type.without_array
            if kind.is_image == image:
                for unit in self.uniforms.units[index]:
                    if unit != NO_UNIT:
                        yield self.uniforms.handles.of_unit(kind, unit) & 0xFFFFFFFF, kind, unit

    def handle(self, stage: Stage, key: LoweringKey = NULL_KEY) -> Handle:
        """The driver's shader of a stage (lowered for `key`), created on first use."""
        found = self.handles.get((stage, key))
        if found is None:
            shader = shader_for_driver(
                lower(self.linked.shaders[stage].ref(), key), self.group.caps
            )
            info = stream_output(self.linked, stage)
            found = self.group.pipe.create_shader_state(stage, shader, info)
            self.handles[(stage, key)] = found
        return found

    def destroy(self) -> None:
        for told in self.on_destroy:
            told(self)
        self.on_destroy.clear()
        self.fill = None
        for (stage, _), handle in self.handles.items():
            if self.group.bound_shaders.get(stage) is handle:
                self.group.pipe.bind_shader_state(stage, None)
                self.group.bound_shaders[stage] = None
            self.group.pipe.delete_shader_state(handle)
        self.handles.clear()
        for shader in self.linked.shaders.values():
            shader.unref()
        self.linked.shaders.clear()
        self.group.mark(Dirty.PROGRAM)


_NO_VARYINGS = frozenset(("gl_NextBuffer", *(f"gl_SkipComponents{n}" for n in range(1, 5))))


class ProgramObject(GLObject):
    """A program object."""

    kind = "program"

    def __init__(self, name: int):
        super().__init__(name)
        self.attached: list[ShaderObject] = []
        self.attrib_bindings: dict[str, int] = {}
        self.frag_data_bindings: dict[str, tuple[int, int]] = {}
        self.xfb_varyings: list[str] = []
        self.xfb_mode: int = GL.INTERLEAVED_ATTRIBS
        self.separable = False  # requested for the next link
        self.was_separable = False  # in effect for the last link
        self.binary_retrievable = False
        self.executable: Executable | None = None
        self.link_ok = False
        self.validate_ok = False
        self.info_log = ""
        self.delete_pending = False
        self.linked_from: list[ShaderSource] = []
        self.linked_with = LinkOptions()  # the options with which the executable was linked

    # Options requested before linking: by the application, or by a binary.

    def bind_attribute(self, ctx: Context, index: int, name: str) -> None:
        if not 0 <= index < ctx.limits.max_vertex_attribs:
            raise invalid_value(f"attribute {index} is out of range")
        if name.startswith("gl_"):
            raise invalid_operation("built-in attributes have no location to bind")
        self.attrib_bindings[name] = index

    def bind_output(self, ctx: Context, color: int, index: int, name: str) -> None:
        caps = ctx.caps
        if index not in (0, 1) or not 0 <= color < caps.max_render_targets:
            raise invalid_value("colour number or index out of range")
        if index == 1 and color >= max(1, caps.max_dual_source_render_targets):
            raise invalid_value("too many dual-source colours")
        if name.startswith("gl_"):
            raise invalid_operation("built-in outputs have no location to bind")
        self.frag_data_bindings[name] = (color, index)

    def choose_varyings(self, ctx: Context, varyings: list[str], mode: int) -> None:
        if mode not in (GL.INTERLEAVED_ATTRIBS, GL.SEPARATE_ATTRIBS):
            raise invalid_enum(mode, "transform feedback buffer mode")
        if ctx.feedback.current.active:
            raise invalid_operation("transform feedback is active")
        limit = ctx.limits.max_transform_feedback_separate_attribs
        if mode == GL.SEPARATE_ATTRIBS and len(varyings) > limit:
            raise invalid_value(f"at most {limit} separate varyings")
        if mode == GL.SEPARATE_ATTRIBS and _NO_VARYINGS.intersection(varyings):
            raise invalid_operation("separate varyings have buffers of their own, without gaps")
        if varyings.count("gl_NextBuffer") >= ctx.feedback.count:
            raise invalid_operation("there are not that many buffers for transform feedback")
        self.xfb_varyings, self.xfb_mode = list(varyings), mode

    def fail_link(self, why: str) -> None:
        """Set the state of a failed link."""
        self.link_ok = self.validate_ok = False
        self.info_log = why

    def link(self, ctx: Context) -> None:
        self.link_ok = self.validate_ok = False
        self.was_separable = self.separable
        self.info_log = ""
        self.linked_from = [s.origin for s in self.attached]
        if not all(s.ok for s in self.attached):
            self.info_log = "error: linking with shaders that did not compile"
            return
        if not self.attached and not ctx.is_compat:
            self.info_log = "error: no shaders are attached"
            return
        options = LinkOptions(
            attrib_bindings=dict(self.attrib_bindings),
            frag_data_bindings=dict(self.frag_data_bindings),
            xfb_varyings=list(self.xfb_varyings),
            xfb_mode="interleaved" if self.xfb_mode == GL.INTERLEAVED_ATTRIBS else "separate",
            separable=self.separable,
            limits=ctx.limits.glsl_limits,
            api=ctx.glsl_api,
        )
        compiled = [s.compiled for s in self.attached if s.compiled is not None]
        if any(s.spirv for s in self.attached):
            linked = link_binaries([s.spirv for s in self.attached], options)
        else:
            linked = link_cached(compiled, options)
        self.info_log = linked.info_log
        if not linked.ok:
            return
        missing = [s.value for s in linked.shaders if s.value not in ctx.caps.stages]
        if missing:
            self.info_log += f"error: the driver does not run {', '.join(missing)} shaders\n"
            for shader in linked.shaders.values():
                shader.unref()
            linked.shaders.clear()
            return
        version = max((c.language.version for c in compiled), default=linked.info.glsl_version)
        self._replace(Executable(ctx, linked, version))
        self.link_ok, self.linked_with = True, options
        for user in ctx.group.contexts:
            if user.programs.current is self:
                user.programs.executable = self.executable
            user.dirty |= Dirty.ALL

    def _replace(self, executable: Executable | None) -> None:
        old, self.executable = self.executable, executable
        if old is not None:
            old.destroy()

    @property
    def told(self) -> Executable | None:
        """The executable that queries report. A failed link discards the results of the previous
        one.

        (An executable in use remains in use until it is replaced.)
        """
        return self.executable if self.link_ok else None

    def require_linked(self) -> Executable:
        if not self.link_ok or self.executable is None:
            raise invalid_operation(f"program {self.name} has not been linked successfully")
        return self.executable

    def attach(self, shader: ShaderObject) -> None:
        self.attached.append(shader.retain())

    def detach(self, shader: ShaderObject) -> None:
        self.attached.remove(shader)
        shader.release()

    def destroy(self) -> None:
        for shader in list(self.attached):
            self.detach(shader)
        self._replace(None)


class ProgramState:
    """Shader and program names (one space) and the program in use."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.names: NameTable[ShaderObject | ProgramObject] = ctx.group.table("shader or program")
        self.current: ProgramObject | None = None
        self.executable: Executable | None = None
        self.stages: dict[Stage, Executable] = {}
        self.has_inner = False  # whether some are between the vertex and the fragment stage
        self.problem = ""  # why draws with these stages are errors
        self.providers: list[Callable[[dict[Stage, Executable]], None]] = []
        """Topics that add shaders of their own for stages without one, in fixed function."""

    @property
    def vertex(self) -> Executable | None:
        """The executable of the vertex stage."""
        return self.stages.get(Stage.VERTEX)

    @property
    def writes_point_size(self) -> bool:
        last = next((self.stages[s] for s in _LAST_FIRST if s in self.stages), None)
        return last is not None and last.writes_point_size

    def resolve(self) -> None:
        """Find the executable of each stage: the program, or fixed function where it has
        no shader.
        """
        ctx, executable = self._ctx, self.executable
        if not ctx.dirty & _SELECTS_PROGRAM and self._keeps_fragment():
            return
        stages: dict[Stage, Executable] = {}
        if executable is not None:
            stages = dict.fromkeys(executable.linked.shaders, executable)
        elif self.current is None and ctx.pipelines.current is not None:
            stages = ctx.pipelines.current.stages()
        if ctx.is_compat and Stage.COMPUTE not in stages:
            for provide in self.providers:
                provide(stages)
            if Stage.FRAGMENT not in stages and not ctx.raster.discard:
                stages[Stage.FRAGMENT] = ctx.fixed_function.fragment()
            if Stage.VERTEX not in stages:
                stages[Stage.VERTEX] = ctx.fixed_function.vertex(stages.get(Stage.FRAGMENT))
        if stages != self.stages:
            self.stages = stages
            self.has_inner = any(stage in stages for stage in _LAST_FIRST[:-1])
            self.problem = problem_of(stages, ctx.profiles == ("es",))
            ctx.dirty |= _OF_PROGRAM

    def _keeps_fragment(self) -> bool:
        """Whether the fragment stage stays the same if nothing but textures has changed."""
        fragment = self.stages.get(Stage.FRAGMENT)
        if fragment is None or not fragment.is_fixed_function:
            return True
        return self._ctx.fixed_function.fragment() is fragment

    def use(self, program: ProgramObject | None) -> None:
        if program is self.current:
            return
        old = self.current
        self.current = swap(self.current, program)
        self.executable = program.executable if program is not None else None
        if old is not None and old.delete_pending and old.refs == 1:
            self.free(old)
        self._ctx.dirty |= _OF_PROGRAM

    def free(self, item: ShaderObject | ProgramObject) -> None:
        """Delete an object that was marked for deletion until its last use."""
        if self.names.get(item.name) is item:
            self.names.pop(item.name)
            attached = list(item.attached) if isinstance(item, ProgramObject) else []
            item.release()
            for shader in attached:
                if shader.delete_pending and shader.refs == 1:
                    self.free(shader)

    def program(self, name: int) -> ProgramObject:
        """The program of that name; INVALID_VALUE or INVALID_OPERATION as GL specifies."""
        found = self.names.get(name)
        if found is None:
            raise invalid_value(f"{name} is not the name of a program")
        if not isinstance(found, ProgramObject):
            raise invalid_operation(f"{name} is a shader, not a program")
        return found

    def shader(self, name: int) -> ShaderObject:
        found = self.names.get(name)
        if found is None:
            raise invalid_value(f"{name} is not the name of a shader")
        if not isinstance(found, ShaderObject):
            raise invalid_operation(f"{name} is a program, not a shader")
        return found

    def release_all(self) -> None:
        if self.current is not None:
            self.current = swap(self.current, None)
            self.executable = None
        self.stages, self.problem = {}, ""
