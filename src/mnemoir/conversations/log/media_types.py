"""Determines the media kind of a file: as stored, else by its extension, else by its MIME type."""

from collections.abc import Mapping, Sequence

from mnemoir.core.conversations import MediaType

_DOCUMENTS = """
csv doc docx eml epub htm html markdown md mdx msg pdf ppt pptx properties txt vtt xls xlsx xml
"""
_ENDINGS: Mapping[MediaType, frozenset[str]] = {
    "image": frozenset({"gif", "jpeg", "jpg", "png", "svg", "webp"}),
    "video": frozenset({"mov", "mp4", "mpeg", "webm"}),
    "audio": frozenset({"amr", "m4a", "mp3", "mpga", "wav"}),
    "document": frozenset(_DOCUMENTS.split()),
}
_MIME_BEGINNINGS: Sequence[tuple[str, MediaType]] = (
    ("image/", "image"),
    ("video/", "video"),
    ("audio/", "audio"),
    ("text/", "document"),
    ("application/pdf", "document"),
)


def media_type(type: str, *, extension: str = "", mime_type: str = "") -> MediaType | None:
    """The media kind of a file of this type; None for kinds that no model takes. `extension` may begin with a dot."""
    stored = next((kind for kind in _ENDINGS if kind == type), None)
    return stored or _by_ending(extension.removeprefix(".").lower()) or _by_mime_type(mime_type.lower())


def _by_ending(ending: str) -> MediaType | None:
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)


def _by_mime_type(mime_type: str) -> MediaType | None:
    return next((kind for beginning, kind in _MIME_BEGINNINGS if mime_type.startswith(beginning)), None)
