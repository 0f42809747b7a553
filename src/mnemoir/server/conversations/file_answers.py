"""Files as JSON: what the routes that list them answer. A `link` is asked with the same user and project."""

from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, Field

from mnemoir.conversations.sent_files import SentFile
from mnemoir.core.clock import to_text
from mnemoir.ports.project_files import ProjectFile

Json = dict[str, Any]
CONVERSATION_FILES = "/api/conversations"
PROJECT_FILES = "/api/files"


class AttachmentAnswer(BaseModel):
    """A file that was sent with a message."""

    name: str
    filename: str | None = Field(description="as its sender calls it")
    link: str = Field(description="the path of its bytes on this server")
    mime_type: str = Field(description="as its bytes tell")
    bytes: int
    conversation_id: str
    message_id: int
    created_at: str | None


class AttachmentsAnswer(BaseModel):
    """`GET /api/conversations/{id}/attachments`, newest first."""

    results: list[AttachmentAnswer]
    next: str | None


class ProjectFileAnswer(BaseModel):
    """A file that the project is kept in, as far as it is this user's."""

    name: str
    link: str
    mime_type: str
    bytes: int
    modified_at: str


class FilesAnswer(BaseModel):
    """`GET /api/files`. `project` comes with the first page, and is empty where no project is kept in files."""

    project: list[ProjectFileAnswer]
    attachments: list[AttachmentAnswer]
    next: str | None


def attachment_json(file: SentFile) -> Json:
    """A file of a message."""
    return {
        "name": file.name,
        "filename": file.filename or None,
        "link": f"{CONVERSATION_FILES}/{quote(file.session_id, safe='')}/attachments/{file.name}",
        "mime_type": file.mime_type,
        "bytes": file.size_bytes,
        "conversation_id": file.session_id,
        "message_id": file.message_id,
        "created_at": None if file.sent_at is None else to_text(file.sent_at),
    }


def project_file_json(file: ProjectFile) -> Json:
    """A file of a project."""
    return {
        "name": file.name,
        "link": f"{PROJECT_FILES}/{quote(file.name)}",
        "mime_type": file.mime_type,
        "bytes": len(file.content),
        "modified_at": to_text(file.modified_at),
    }
