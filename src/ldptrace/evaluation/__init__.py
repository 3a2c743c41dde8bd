"""Evaluate the quality and the privacy of a synthetic set, with metrics, two attacks and a scorecard."""
