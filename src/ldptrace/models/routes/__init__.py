"""The route model: public routes along the streets, with weights fitted to randomised reports
(`docs/explanation/streets.md`)."""
