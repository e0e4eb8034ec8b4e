"""Nodes become items in an order, with the edges between them and the places of what they read and write."""
