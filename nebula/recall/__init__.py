"""How something comes to mind: one file per route, then fuse, then modulate. Pure; time is an argument."""
