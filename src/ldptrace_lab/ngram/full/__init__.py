"""NGRAM as it was proposed, with public knowledge of places: categories, opening hours, reachability."""
