"""The executable specification of multi-device tensor programs and the suite that certifies against it."""

__version__ = "0.11.0"

SPECIFICATION_VERSION = "1.0-draft"
"""Changes with what is demanded, not with the code that checks it (``docs/versions.md``)."""
