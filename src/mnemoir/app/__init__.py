"""The composition root: settings in, running parts out. The only room that names a concrete backend."""

from mnemoir.app.parts import Parts, open_parts

__all__ = ["Parts", "open_parts"]
