"""Local."""
from __future__ import annotations
import numpy as np
from gallette.benchmarks.registry import benchmark
from gallette.benchmarks.frame_scenes import FULL_SCREEN, SQUARE, _camera
from gallette.scenes.common import *

@benchmark("z_points")
def points(ctx, size):
    """20000 additive point sprites"""
    program = ctx.program("""#version 330
in vec2 position; in float big; out vec3 c;
void main(){ gl_Position=vec4(position,0,1); gl_PointSize=big; c=vec3(position*0.5+0.5,0.5); }""",
"""#version 330
in vec3 c; out vec4 color;
void main(){ vec2 d=gl_PointCoord-0.5; color=vec4(c*max(0.0,1.0-4.0*dot(d,d)),1.0); }""")
    r=np.random.default_rng(1)
    data=np.concatenate((r.uniform(-1,1,(20000,2)),r.uniform(2,8,(20000,1))),1)
    a=upload(ctx,program,"2f 1f",data,"position big",ctx.POINTS)
    def draw():
        ctx.enable(ctx.PROGRAM_POINT_SIZE|ctx.BLEND); ctx.blend_func=ctx.ONE,ctx.ONE
        a.render(); ctx.disable(ctx.BLEND|ctx.PROGRAM_POINT_SIZE)
    return draw

@benchmark("z_lines")
def lines(ctx, size):
    """20000 lines"""
    program = ctx.program("""#version 330
in vec2 position; out vec2 c;
void main(){ gl_Position=vec4(position,0,1); c=position; }""",
"""#version 330
in vec2 c; out vec4 color;
void main(){ color=vec4(c*0.5+0.5,0.5,1.0); }""")
    r=np.random.default_rng(1)
    a=r.uniform(-1,1,(20000,1,2)); data=(a+r.uniform(-.05,.05,(20000,2,2))).reshape(-1,2)
    v=upload(ctx,program,"2f",data,"position",ctx.LINES)
    return lambda: v.render()

@benchmark("z_wireframe")
def wire(ctx, size):
    """wireframe torus"""
    from gallette.benchmarks.mesh_scenes import _lit
    p=_lit(ctx,size); m=upload(ctx,p,"3f 3f 2f",torus(96,48),"position normal uv",ctx.TRIANGLES)
    def draw():
        ctx.enable(ctx.DEPTH_TEST); ctx.wireframe=True; m.render(); ctx.wireframe=False
    return draw

@benchmark("z_cubemap")
def cubemap(ctx, size):
    """skybox and mirror"""
    sky = ctx.program("""#version 330
in vec2 position; out vec3 dir;
void main(){ gl_Position=vec4(position,0.9999,1); dir=vec3(position,-1.0); }""",
"""#version 330
uniform samplerCube env; in vec3 dir; out vec4 color;
void main(){ color=texture(env,dir); }""")
    mir = ctx.program("""#version 330
in vec3 position; in vec3 normal; uniform mat4 matrix; out vec3 n; out vec3 p;
void main(){ gl_Position=matrix*vec4(position,1.0); n=normal; p=position; }""",
"""#version 330
uniform samplerCube env; in vec3 n; in vec3 p; out vec4 color;
void main(){ color=texture(env,reflect(p-vec3(0,1.5,2),normalize(n))); }""")
    env=ctx.texture_cube((128,128),4,np.random.default_rng(2).integers(0,256,6*128*128*4,dtype=np.uint8).tobytes())
    env.build_mipmaps(); env.filter=ctx.LINEAR_MIPMAP_LINEAR,ctx.LINEAR
    mir["matrix"].write(gl_matrix(_camera(size,(0,1.5,2),(0,0,0))))
    a=upload(ctx,sky,"2f",quad(),"position",ctx.TRIANGLE_STRIP)
    m=upload(ctx,mir,"3f 3f 2f",torus(64,32),"position normal uv",ctx.TRIANGLES)
    def draw():
        ctx.enable(ctx.DEPTH_TEST); env.use(0); m.render(); a.render()
    return draw

@benchmark("z_volume")
def volume(ctx, size):
    """ray march through a 3D texture"""
    p=ctx.program(FULL_SCREEN,"""#version 330
uniform sampler3D vol; in vec2 uv; out vec4 color;
void main(){ vec4 sum=vec4(0); for(int i=0;i<24;i++){ float d=texture(vol,vec3(uv,float(i)/24.0)).r; sum+=(1.0-sum.a)*vec4(d,d*d,1.0-d,1.0)*d*0.2; if(sum.a>0.95)break;} color=sum; }""")
    t=ctx.texture3d((32,32,32),1,np.random.default_rng(2).integers(0,256,32**3,dtype=np.uint8).tobytes())
    t.filter=ctx.LINEAR,ctx.LINEAR
    a=upload(ctx,p,"2f",quad(),"position",ctx.TRIANGLE_STRIP)
    def draw():
        t.use(0); a.render()
    return draw

@benchmark("z_graph")
def graph(ctx, size):
    """400 indexed meshes with a matrix uniform each and alternating program"""
    V="""#version 330
in vec3 position; in vec3 normal; uniform mat4 model; uniform mat4 matrix; out vec3 n;
void main(){ gl_Position=matrix*(model*vec4(position,1.0)); n=mat3(model)*normal; }"""
    ps=[ctx.program(V,"""#version 330
uniform vec3 paint; in vec3 n; out vec4 color;
void main(){ color=vec4(paint*(0.3+0.7*max(%s,0.0)),1.0); }"""%e) for e in ("normalize(n).y","normalize(n).x")]
    s=sphere(12,8,0.2)
    arrays=[]
    vb=ctx.buffer(s.tobytes()); ib=ctx.buffer(np.arange(len(s),dtype=np.uint16).tobytes())
    for p in ps:
        p["matrix"].write(gl_matrix(_camera(size,(0,3,4),(0,0,0))))
        arrays.append(ctx.vertex_array(p,[(vb,"3f 3f 2x4","position","normal")],ib,index_element_size=2))
    ms=[]
    for k in range(400):
        m=np.eye(4); m[:3,3]=k%20*0.4-4,0,k//20*0.4-4; ms.append(gl_matrix(m))
    def draw():
        ctx.enable(ctx.DEPTH_TEST)
        for k,m in enumerate(ms):
            i=k//4%2
            ps[i]["model"].write(m); ps[i]["paint"].value=(k%5/4,k%7/6,.5)
            arrays[i].render()
    return draw

@benchmark("z_ubo_ranges")
def ubo(ctx, size):
    """1000 draws with a uniform buffer range each"""
    p=ctx.program("""#version 330
in vec2 position; layout(std140) uniform One { vec4 place; vec4 tint; }; 
void main(){ gl_Position=vec4(position*0.03+place.xy,place.z,1.0); }""","""#version 330
layout(std140) uniform One { vec4 place; vec4 tint; }; out vec4 color;
void main(){ color=tint; }""")
    data=np.zeros((1000,64),np.float32)
    for k in range(1000):
        data[k,:3]=k%40/20-0.975,k//40/12.5-0.96,0; data[k,4:8]=k%5/4,k%7/6,.5,1
    b=ctx.buffer(data.tobytes()); p["One"].binding=0
    a=upload(ctx,p,"2f",SQUARE,"position",ctx.TRIANGLES)
    def draw():
        for k in range(1000):
            b.bind_to_uniform_block(0,offset=k*256,size=32); a.render()
    return draw

@benchmark("z_dynamic")
def dynamic(ctx, size):
    """300 draws, vertices rewritten before each"""
    p=ctx.program("""#version 330
in vec2 position; in vec3 paint; out vec3 c;
void main(){ gl_Position=vec4(position,0,1); c=paint; }""","""#version 330
in vec3 c; out vec4 color;
void main(){ color=vec4(c,1); }""")
    r=np.random.default_rng(3)
    base=r.uniform(-1,1,(300,1,2)); pos=base+SQUARE*0.1; col=r.uniform(0,1,(300,6,3))
    data=[d.tobytes() for d in np.concatenate((pos,col),2).astype(np.float32)]
    b=ctx.buffer(reserve=len(data[0])); a=ctx.vertex_array(p,[(b,"2f 3f","position","paint")])
    def draw():
        for d in data:
            b.write(d); a.render(ctx.TRIANGLES)
    return draw

@benchmark("z_srgb")
def srgb(ctx, size):
    """srgb texture into a srgb target, blended, then copied"""
    p=ctx.program(FULL_SCREEN,"""#version 330
uniform sampler2D image; in vec2 uv; out vec4 color;
void main(){ color=vec4(texture(image,uv*3.0).rgb,0.5); }""")
    noise=np.random.default_rng(1).integers(0,256,(256,256,4),dtype=np.uint8)
    t=ctx.texture((256,256),4,noise.tobytes(),internal_format=0x8C43); t.filter=ctx.LINEAR,ctx.LINEAR
    o=ctx.texture(size,4,internal_format=0x8C43); f=ctx.framebuffer([o]); screen=ctx.fbo
    a=upload(ctx,p,"2f",quad(),"position",ctx.TRIANGLE_STRIP)
    gl=ctx.extra
    def draw():
        f.use(); ctx.enable_direct(0x8DB9); ctx.enable(ctx.BLEND); ctx.blend_func=ctx.SRC_ALPHA,ctx.ONE_MINUS_SRC_ALPHA
        t.use(0); a.render(); ctx.disable(ctx.BLEND); ctx.disable_direct(0x8DB9)
        screen.use(); o.use(0); a.render()
    return draw

@benchmark("z_feedback")
def feedback(ctx, size):
    """transform feedback of 50000 particles, then points"""
    u=ctx.program(vertex_shader="""#version 330
in vec2 position; in vec2 speed; out vec2 p; out vec2 s;
void main(){ p=position+speed*0.01; s=speed; if(abs(p.x)>1.0) s.x=-s.x; if(abs(p.y)>1.0) s.y=-s.y; }""",varyings=["p","s"])
    d=ctx.program("""#version 330
in vec2 position; void main(){ gl_Position=vec4(position,0,1); }""","""#version 330
out vec4 color; void main(){ color=vec4(1,0.8,0.3,1); }""")
    data=np.random.default_rng(4).uniform(-1,1,(50000,4)).astype(np.float32)
    b=[ctx.buffer(data.tobytes()),ctx.buffer(reserve=data.nbytes)]
    up=[ctx.vertex_array(u,[(x,"2f 2f","position","speed")]) for x in b]
    dr=[ctx.vertex_array(d,[(x,"2f 8x","position")]) for x in b]
    def draw():
        up[0].transform(b[1],ctx.POINTS); dr[1].render(ctx.POINTS)
        b.reverse(); up.reverse(); dr.reverse()
    return draw

@benchmark("z_texarray")
def texarray(ctx, size):
    """3000 sprites of a texture array, blended, nearest"""
    p=ctx.program("""#version 330
in vec2 corner; in vec4 place; out vec3 uv;
void main(){ gl_Position=vec4(corner*place.z+place.xy,0,1); uv=vec3(corner,place.w); }""","""#version 330
uniform sampler2DArray image; in vec3 uv; out vec4 color;
void main(){ color=texture(image,uv); }""")
    r=np.random.default_rng(5)
    t=ctx.texture_array((32,32,16),4,r.integers(0,256,(16,32,32,4),dtype=np.uint8).tobytes()); t.filter=ctx.NEAREST,ctx.NEAREST
    pl=r.uniform((-1,-1,0.05,0),(1,1,0.12,15),(3000,4)).astype(np.float32)
    a=ctx.vertex_array(p,[(ctx.buffer(SQUARE.tobytes()),"2f","corner"),(ctx.buffer(pl.tobytes()),"4f/i","place")])
    def draw():
        ctx.enable(ctx.BLEND); ctx.blend_func=ctx.SRC_ALPHA,ctx.ONE_MINUS_SRC_ALPHA
        t.use(0); a.render(ctx.TRIANGLES,instances=3000); ctx.disable(ctx.BLEND)
    return draw

@benchmark("z_noise")
def noise(ctx, size):
    """procedural: fbm noise with sin hash, pow, exp"""
    p=ctx.program(FULL_SCREEN,"""#version 330
in vec2 uv; out vec4 color; uniform float time;
float h(vec2 p){ return fract(sin(dot(p,vec2(12.9898,78.233)))*43758.5453); }
float n(vec2 p){ vec2 i=floor(p),f=fract(p); f=f*f*(3.0-2.0*f);
 return mix(mix(h(i),h(i+vec2(1,0)),f.x),mix(h(i+vec2(0,1)),h(i+vec2(1,1)),f.x),f.y); }
void main(){ float s=0.0,a=0.5; vec2 p=uv*8.0+time; for(int i=0;i<5;i++){ s+=a*n(p); p*=2.0; a*=0.5; }
 color=vec4(pow(vec3(s),vec3(1.0,1.5,2.2)),exp(-s)); }""")
    a=upload(ctx,p,"2f",quad(),"position",ctx.TRIANGLE_STRIP)
    return lambda: a.render()

@benchmark("z_compute_image")
def cimg(ctx, size):
    """compute shader that writes an image, then drawn"""
    c=ctx.compute_shader("""#version 430
layout(local_size_x=8,local_size_y=8) in; layout(rgba8,binding=0) uniform image2D o;
void main(){ ivec2 p=ivec2(gl_GlobalInvocationID.xy); vec2 u=vec2(p)/512.0; imageStore(o,p,vec4(u,fract(u.x*u.y*9.0),1)); }""")
    t=ctx.texture(size,4); p=ctx.program(FULL_SCREEN,"""#version 330
uniform sampler2D image; in vec2 uv; out vec4 color; void main(){ color=texture(image,uv); }""")
    a=upload(ctx,p,"2f",quad(),"position",ctx.TRIANGLE_STRIP)
    def draw():
        t.bind_to_image(0,False,True); c.run(size[0]//8,size[1]//8); t.use(0); a.render()
    return draw
cimg  # noqa
