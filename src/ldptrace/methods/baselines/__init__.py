"""Methods that the paper compares with, rebuilt from their descriptions."""
