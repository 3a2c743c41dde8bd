"""Methods that publish a stream while it happens, one report every few ticks: other people's, to be compared with."""
