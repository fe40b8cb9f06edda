"""EXT_direct_state_access: functions that name what they change, derived from those that do not."""
