"""EXT_direct_state_access: functions that name an object, derived from those that use the bound
one.
"""
