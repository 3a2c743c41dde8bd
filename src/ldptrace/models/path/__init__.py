"""The calibrated maximum-entropy path model; `docs/explanation/path-model.md` is its mathematics."""
