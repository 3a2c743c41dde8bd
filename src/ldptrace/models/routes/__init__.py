"""The route model: public ways through the streets, weighted by private answers (`docs/explanation/streets.md`)."""
