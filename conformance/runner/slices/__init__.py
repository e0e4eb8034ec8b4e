"""Runs in parts: units of draws that depend on nothing else, slices of them, and the run that slices make together."""
