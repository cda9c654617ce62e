"""How something comes to mind: one file per route, then fuse, then modulate. Pure functions; time comes as an argument."""
