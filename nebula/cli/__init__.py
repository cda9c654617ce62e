"""Doors for people: parse, call one operation, show its value."""
