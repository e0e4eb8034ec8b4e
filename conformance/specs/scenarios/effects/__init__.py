"""What programs with effects are drawn from: storage that is made, written, read, started on and freed."""
