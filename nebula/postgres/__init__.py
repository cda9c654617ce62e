"""A mind in PostgreSQL: the same store as a folder's, with rows for lines; loaded only where such a mind is named."""
