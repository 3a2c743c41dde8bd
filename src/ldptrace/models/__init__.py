"""Mobility models: the paper's Markov chain and the calibrated path model."""
