"""The route model: public ways through the streets, weighted by randomised reports (`docs/explanation/streets.md`)."""
