"""Backends in processes of their own: started, fed, heard, ended."""
