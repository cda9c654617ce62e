"""What is felt: a multiplier on memory, never a route. Pure but for `sources`, which reads other programs' moods."""
