// Kernels of the tests. kernels.spvasm was made of them by
//   clang -cc1 -no-opaque-pointers -triple spir64 -O2 -cl-std=CL2.0 -finclude-default-header
//     -emit-llvm-bc kernels.cl -o kernels.bc && llvm-spirv kernels.bc -o kernels.spv
__kernel void saxpy(__global float *y, __global const float *x, float a, int n){ size_t i=get_global_id(0); if(i<n) y[i]=a*x[i]+y[i]; }
__kernel void reduce(__global float *out, __global const float *in, __local float *tmp){ int l=get_local_id(0); tmp[l]=in[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); for(int s=get_local_size(0)/2;s>0;s>>=1){ if(l<s) tmp[l]+=tmp[l+s]; barrier(CLK_LOCAL_MEM_FENCE);} if(l==0) out[get_group_id(0)]=tmp[0]; }
__kernel void histogram(__global uint *out, __global const uint *in, __local uint *bins, uint n){
  uint l=get_local_id(0); for(uint i=l;i<16;i+=get_local_size(0)) bins[i]=0; barrier(CLK_LOCAL_MEM_FENCE);
  for(uint i=get_global_id(0);i<n;i+=get_global_size(0)) atomic_inc(&bins[in[i]&15]);
  barrier(CLK_LOCAL_MEM_FENCE); for(uint i=l;i<16;i+=get_local_size(0)) atomic_add(&out[i], bins[i]); }
__kernel void scan(__global int *d, __local int *t){ int l=get_local_id(0), n=get_local_size(0); t[l]=d[get_global_id(0)]; barrier(1);
  for(int o=1;o<n;o<<=1){ int v = l>=o ? t[l-o] : 0; barrier(1); t[l]+=v; barrier(1);} d[get_global_id(0)]=t[l]; }
__kernel void matmul(__global float *c, __global const float *a, __global const float *b, int n){
  __local float ta[8][8]; __local float tb[8][8]; int x=get_local_id(0), y=get_local_id(1); int col=get_global_id(0), row=get_global_id(1); float s=0;
  for(int t=0;t<n/8;t++){ ta[y][x]=a[row*n+t*8+x]; tb[y][x]=b[(t*8+y)*n+col]; barrier(1); for(int k=0;k<8;k++) s+=ta[y][k]*tb[k][x]; barrier(1);} c[row*n+col]=s; }
__kernel void bitonic(__global int *d, __local int *t){ uint l=get_local_id(0), n=get_local_size(0); t[l]=d[get_global_id(0)]; barrier(1);
  for(uint k=2;k<=n;k<<=1) for(uint j=k>>1;j>0;j>>=1){ uint p=l^j; if(p>l){ int a=t[l], b=t[p]; int up=(l&k)==0; if((a>b)==up){ t[l]=b; t[p]=a; } } barrier(1);} d[get_global_id(0)]=t[l]; }
typedef struct { float3 pos; float mass; int id; } Body;
__kernel void bodies(__global Body *b, float dt){ int i=get_global_id(0); b[i].pos += (float3)(1,2,3)*dt*b[i].mass; b[i].id = i*2; }
__kernel void stencil(__global float *o, __global const float *in, int w, int h){ int x=get_global_id(0), y=get_global_id(1); if(x<1||y<1||x>=w-1||y>=h-1){ if(x<w&&y<h) o[y*w+x]=in[y*w+x]; return;} o[y*w+x]=0.25f*(in[y*w+x-1]+in[y*w+x+1]+in[(y-1)*w+x]+in[(y+1)*w+x]); }
float total(const float *p, int n){ float s=0; for(int i=0;i<n;i++) s+=p[i]; return s; }
__kernel void generic_sum(__global float *o, __global const float *g, __local float *l, int n){ int i=get_local_id(0); l[i]=g[i]*2; barrier(1); float priv[4]={1,2,3,4};
  const float *p = (i&1) ? (const float*)l : (const float*)g; if((i&3)==2) p=priv; o[i]=total(p, n); }
__kernel void collatz(__global uint *d, uint n){ uint i=get_global_id(0); if(i>=n) return; uint v=d[i], c=0; while(v!=1){ v = (v&1)? 3*v+1 : v/2; c++; if(c>1000) break; } d[i]=c; }
__kernel void mandel(__global int *o, int w, float s){ int x=get_global_id(0), y=get_global_id(1); float cr=x*s-2, ci=y*s-1, zr=0, zi=0; int k=0; for(;k<50;k++){ float t=zr*zr-zi*zi+cr; zi=2*zr*zi+ci; zr=t; if(zr*zr+zi*zi>4) break; } o[y*w+x]=k; }
__kernel void chars(__global uchar *o, __global const uchar *i, short k){ int g=get_global_id(0); o[g]=(uchar)(i[g]+k); }
__kernel void vec4s(__global float4 *o, __global const float4 *a){ int i=get_global_id(0); float4 v=a[i]; o[i]=(float4)(dot(v,v), length(v), fmax(v.x,v.y), sqrt(fabs(v.w))); }
__kernel void sw(__global int *d){ int i=get_global_id(0); switch(d[i]-100){ case 0: d[i]+=10; break; case 1: d[i]*=3; case 2: d[i]-=1; break; default: d[i]=-d[i]; } }
