"""Learning a mind's route weights and floor from its own records: known-item queries, the mixture, and what is kept."""
