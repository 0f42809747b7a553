"""Files of a conversation: stored references, and their conversion to message parts when history is rebuilt.

Replaying history never checks files against the current upload rules and never uses the network; a missing file only
loses its own part and logs a warning.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

import structlog
from pydantic import BaseModel, Field, ValidationError

from mnemoir.core.conversations import MediaPart, MediaType, Part, TextPart
from mnemoir.core.errors import MnemoirError, NotFound, SettingsError
from mnemoir.ports.turns import Attachment

_log = structlog.get_logger(__name__)
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
Detail = Literal["low", "high"]
DEFAULT_DETAIL: Detail = "high"  # of an image in history, unless another is requested


def media_type(type: str, *, extension: str = "", mime_type: str = "") -> MediaType | None:
    """The media kind of a file of this type; None for kinds that no model takes. `extension` may begin with a dot."""
    stored = next((kind for kind in _ENDINGS if kind == type), None)
    return stored or _by_ending(extension.removeprefix(".").lower()) or _by_mime_type(mime_type.lower())


def _by_ending(ending: str) -> MediaType | None:
    return next((kind for kind, endings in _ENDINGS.items() if ending in endings), None)


def _by_mime_type(mime_type: str) -> MediaType | None:
    return next((kind for beginning, kind in _MIME_BEGINNINGS if mime_type.startswith(beginning)), None)


class FileType(StrEnum):
    """The kind of a file; `custom` is everything else."""

    IMAGE = "image"
    DOCUMENT = "document"
    AUDIO = "audio"
    VIDEO = "video"
    CUSTOM = "custom"


class FileTransferMethod(StrEnum):
    """The origin of a file: uploaded, referenced by URL, or made by a tool."""

    LOCAL_FILE = "local_file"
    REMOTE_URL = "remote_url"
    TOOL_FILE = "tool_file"


class ImageConfig(BaseModel):
    """An application's rules for images; `detail` is the resolution at which a model reads them."""

    number_limits: int = 0
    transfer_methods: Sequence[FileTransferMethod] = ()
    detail: Detail | None = None


class FileUploadConfig(BaseModel):
    """An application's rules for uploads."""

    image_config: ImageConfig | None = None
    allowed_file_types: Sequence[FileType] = ()
    allowed_file_extensions: Sequence[str] = ()
    allowed_file_upload_methods: Sequence[FileTransferMethod] = ()
    number_limits: int = 0


class FileUnavailable(NotFound):
    """Raised for a file of the history that is gone, another tenant's, or unusable for models."""

    code = "file_unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRef:
    """The stored reference of a file: its location, never its bytes. One of the three locations is set."""

    type: str
    transfer_method: str
    upload_file_id: str | None = None
    tool_file_id: str | None = None
    url: str | None = None
    belongs_to: Literal["user", "assistant"] = "user"
    id: str | None = None  # of the attachment row, if there is one

    def mapping(self) -> dict[str, str]:
        """The arguments of a file factory: `type`, `transfer_method`, the location, and `id` if there is one."""
        place = _PLACES.get(self.transfer_method, "url")
        wanted = {
            "id": self.id,
            "type": self.type,
            "transfer_method": self.transfer_method,
            place: getattr(self, place),
        }
        return {name: str(value) for name, value in wanted.items() if value is not None}


_PLACES = {
    FileTransferMethod.LOCAL_FILE.value: "upload_file_id",
    FileTransferMethod.TOOL_FILE.value: "tool_file_id",
    FileTransferMethod.REMOTE_URL.value: "url",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file looked up from stored metadata alone. `related_id` is the id of the upload or of the tool's file."""

    id: str | None = None
    tenant_id: str
    type: str
    transfer_method: str
    remote_url: str | None = None
    related_id: str | None = None
    filename: str = ""
    extension: str = ""  # with its dot
    mime_type: str = ""
    size: int = -1  # in bytes; -1 when it is not known
    storage_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePayload:
    """The content of a file for a model: a URL, or else its bytes in Base64. `tokens` is its cost, if known."""

    url: str = ""
    base64_data: str = field(default="", repr=False)
    tokens: int | None = None


class FileResolver(Protocol):
    """Finds files by their references. Neither method uses the network."""

    def find(self, ref: FileRef, *, tenant_id: str) -> StoredFile:
        """The tenant's file. Raises FileUnavailable when it is gone or another tenant's."""

    def payload(self, file: StoredFile) -> FilePayload:
        """The content for a model. Raises FileUnavailable when it cannot be read."""


def file_ref(attachment: Attachment) -> FileRef:
    """The reference of an attachment row; a row without an owner belongs to the user."""
    is_tool_file = attachment.transfer_method == FileTransferMethod.TOOL_FILE
    return FileRef(
        id=attachment.id,
        type=attachment.type,
        transfer_method=attachment.transfer_method,
        upload_file_id=None if is_tool_file else attachment.upload_file_id,
        tool_file_id=attachment.upload_file_id if is_tool_file else None,
        url=attachment.url,
        belongs_to="assistant" if attachment.belongs_to == "assistant" else "user",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFiles:
    """Converts the files of a history to message parts for one model.

    `accepts` names the kinds of media that the model takes; None means all of them.
    """

    resolver: FileResolver
    tenant_id: str
    accepts: Collection[MediaType] | None = None

    def content(self, text: str, refs: Sequence[FileRef], *, detail: Detail = DEFAULT_DETAIL) -> str | list[Part]:
        """Files first, in the order given, the text last; the plain text when no file is left.

        A missing file is skipped. One that was found but cannot become a part is skipped too, and the content stays a
        list. When the model takes none of the found files, the content is the text alone.
        """
        found = [file for file in (self._find(ref) for ref in refs) if file]
        taken = [(file, kind) for file in found if self._takes(kind := _media_type(file))]
        if not taken:
            return text
        parts = [part for file, kind in taken if (part := self._part(file, kind, detail))]
        if not parts and len(taken) < len(found):
            return text
        return [*parts, TextPart(text)]

    def _find(self, ref: FileRef) -> StoredFile | None:
        try:
            return self.resolver.find(ref, tenant_id=self.tenant_id)
        except _FILE_ERRORS as exc:
            _note_skipped_file(ref.id or ref.upload_file_id or ref.tool_file_id, exc)
            return None

    def _takes(self, kind: MediaType | None) -> bool:
        return kind is None or self.accepts is None or kind in self.accepts

    def _part(self, file: StoredFile, kind: MediaType | None, detail: Detail) -> Part | None:
        if kind is None:
            return TextPart(f"[A file of an unsupported kind: {file.filename or file.extension or 'without a name'}]")
        try:
            payload = self.resolver.payload(file)
        except _FILE_ERRORS as exc:
            _note_skipped_file(file.id or file.related_id, exc)
            return None
        return MediaPart(
            type=kind,
            mime_type=file.mime_type,
            url=payload.url,
            base64_data=payload.base64_data,
            format=file.extension.removeprefix("."),
            filename=file.filename,
            tokens=payload.tokens,
            detail=detail if kind == "image" else "low",
        )


def accepted_media(model: object) -> Collection[MediaType] | None:
    """The kinds of media that a model names in its `accepted_media`; None, for all, when it names none."""
    named: Collection[MediaType] | None = getattr(model, "accepted_media", None)
    return named


_FILE_ERRORS = (MnemoirError, OSError, ValueError, LookupError)  # errors of a resolver that concern one file


def _media_type(file: StoredFile) -> MediaType | None:
    return media_type(file.type, extension=file.extension, mime_type=file.mime_type)


def _note_skipped_file(file_id: str | None, exc: BaseException) -> None:
    _log.warning("history_file_skipped", file=file_id, error=type(exc).__name__)


def history_detail(features: Mapping[str, Any], *, reads_detail: bool) -> Detail | None:  # features are JSON
    """The detail at which a model reads images of history; None when the application's file upload is off.

    `features` holds `file_upload`. Its own `enabled` counts, else that of its `image`. Members of unknown shape are
    ignored: files uploaded under other rules are still replayed.
    """
    upload = _mapping(features.get("file_upload"))
    image = _mapping(upload.get("image"))
    if not upload.get("enabled", image.get("enabled")):
        return None
    return "low" if reads_detail and image.get("detail") == "low" else DEFAULT_DETAIL


def _mapping(raw: Any) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}


class _ImageUpload(BaseModel):
    enabled: bool = False
    number_limits: int = Field(default=3, ge=1, le=6)
    transfer_methods: Sequence[FileTransferMethod] = (FileTransferMethod.REMOTE_URL, FileTransferMethod.LOCAL_FILE)
    detail: Detail = DEFAULT_DETAIL


class _FileUpload(FileUploadConfig):
    """The spelling of an application's settings."""

    image: _ImageUpload = _ImageUpload()


def read_file_upload(features: Mapping[str, Any]) -> FileUploadConfig | None:
    """The upload rules in an application's `file_upload`, read at its configuration; None when it is off.

    Raises SettingsError naming the member at fault.
    """
    if history_detail(features, reads_detail=True) is None:
        return None
    try:
        upload = _FileUpload.model_validate(features["file_upload"])
    except ValidationError as exc:
        misfit = exc.errors()[0]
        raise SettingsError(f"file_upload.{'.'.join(map(str, misfit['loc']))}: {misfit['msg']}") from exc
    image = ImageConfig.model_validate(upload.image.model_dump(exclude={"enabled"}))
    return FileUploadConfig.model_validate({**upload.model_dump(exclude={"image"}), "image_config": image})
