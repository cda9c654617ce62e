"""记忆星图: a long-term memory for people and AI agents, in plain files on one's own disk."""
