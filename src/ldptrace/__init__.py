"""Synthetic trajectories under local differential privacy."""
