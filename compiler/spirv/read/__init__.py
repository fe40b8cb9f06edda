"""SPIR-V to NIR, by `translate.spirv_to_nir`."""
