"""Subject memory: what one character of a story has lived and believes, and nothing else (subject.md)."""
