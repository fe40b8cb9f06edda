"""NIR to LLVM IR: values, arithmetic, control flow by masks, memory, textures."""
