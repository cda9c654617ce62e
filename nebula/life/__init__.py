"""How a memory is weighed, sinks and rises. Pure functions; they return values and plans, and write nothing."""
