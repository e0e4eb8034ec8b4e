"""Certificates: a run that anybody can check again, as a folder with a signed statement and every record."""
