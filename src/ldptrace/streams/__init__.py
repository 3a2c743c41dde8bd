"""Follow demand over time: a model of the demand at present, fitted to the reports so far, and synthetic travellers
drawn from it."""
