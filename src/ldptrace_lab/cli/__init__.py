"""Commands of the laboratory; each module has a `register` function, named by an entry point."""
