"""A local page to live with: the sky with its settings, the mood. An optional door, for this machine alone."""
