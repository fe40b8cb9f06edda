"""SPIR-V to NIR. The face is `translate.spirv_to_nir`."""
