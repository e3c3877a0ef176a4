"""HTML pages that stand alone, and the results they show."""
