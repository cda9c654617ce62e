"""The star map: fixed orbits, one offline page, and a small sky for the terminal (spec 8). Pure."""
