"""Where the batches of a simulation run: on this machine, in bounded memory, or on a cluster."""
