"""The sentences, one module a language."""
