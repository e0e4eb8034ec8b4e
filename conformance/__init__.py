"""The executable specification of multi-device tensor programs and the suite that certifies against it."""

__version__ = "0.2.0"
