"""The composition root: settings in, running parts out. It opens the rooms below it, one after the other."""

from mnemoir.app.parts import Parts, open_parts

__all__ = ["Parts", "open_parts"]
