"""From statements to a model: texts expanded, objects selected, templates applied, other files read."""
