"""The public map: road networks, ways through them, and readers of the files people have."""
