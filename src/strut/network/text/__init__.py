"""The text of the coupled-dynamics language: words, grammar, statements and formulas, before anything is
expanded."""
