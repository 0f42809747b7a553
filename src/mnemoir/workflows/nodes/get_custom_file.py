"""GetCustomFile: the text of a file."""

import structlog
from pydantic import Field

from mnemoir.core.errors import SettingsError
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.file_edits import first_pieces, last_pieces
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.step import Step

_log = structlog.get_logger(__name__)
_ABSENT = "Custom instruction file did not exist"


class Properties(NodeProperties):
    """Properties of a GetCustomFile node. A delimiter that is not given equals the other one, or is a line feed."""

    filepath: Line = Field("", description="The file, with variables; ~ and paths below the public folder are known.")
    delimiter: Line | None = Field(None, description="What stands between the pieces of the file.")
    returned_delimiter: Line | None = Field(
        None, alias="customReturnDelimiter", description="What is put in its place."
    )
    head_count: Count = Field(0, alias="headCount", description="Give only the first pieces, so many.")
    tail_count: Count = Field(0, alias="tailCount", description="Give only the last pieces, so many.")
    chunk_delimiter: Line | None = Field(
        None, alias="chunkDelimiter", description="What the pieces to count are cut at; else the delimiter."
    )

    @property
    def delimiters(self) -> tuple[str, str]:
        """The delimiter to replace, and its replacement."""
        delimiter = self.delimiter if self.delimiter is not None else self.returned_delimiter or "\n"
        return delimiter, delimiter if self.returned_delimiter is None else self.returned_delimiter


class GetCustomFile(ValueNode[Properties]):
    """Reads a file from the allowed directories."""

    kind = "GetCustomFile"
    properties_type = Properties
    filled = ("filepath",)

    async def value(self, step: Step) -> str:
        """The text; a fixed sentence for an empty, missing, unreadable or forbidden file."""
        path = step.fill(self.properties.filepath).strip()
        if not path:
            return "No filepath specified"
        text = await self._read(step, path)
        if text is None:
            return _ABSENT
        return self._with_delimiters(self._head_or_tail(step, text)) or "No additional information added"

    async def _read(self, step: Step, path: str) -> str | None:
        """The text; None, with a note in the trace and a warning in the log, if it cannot be read."""
        try:
            text = await self.services.files.read(path)
            if text is not None:
                return text
            note, reason = f"There is no file {path}.", "no such file"
        except SettingsError as exc:
            note, reason = exc.message, "not allowed"
        except OSError as exc:
            reason = exc.strerror or type(exc).__name__
            note = f"The file {path} could not be read: {reason}."
        tried = f"{self.services.files.full_path(path)}"
        step.note(note if tried in note else f"{note} Tried: {tried}.")
        named = {"workflow": step.run.workflow.name, "node": step.definition.title}
        is_of_config = path == self.properties.filepath.strip()  # else what was said may have been filled in
        _log.warning(
            "custom file not read",
            **named,
            filepath=self.properties.filepath,
            **({"tried": tried} if is_of_config else {}),
            reason=reason,
            allowed="the public folder, and the directories of workflows.file_directories",
        )
        _log.debug("path of a custom file that was not read", **named, tried=tried)
        return None

    def _head_or_tail(self, step: Step, text: str) -> str:
        said = self.properties
        delimiter = said.chunk_delimiter or said.delimiters[0]
        first = step.count(said.head_count, 0, "headCount")
        last = step.count(said.tail_count, 0, "tailCount")
        if not delimiter or max(first, last) <= 0:
            return text
        return first_pieces(text, delimiter, first) if first > 0 else last_pieces(text, delimiter, last)

    def _with_delimiters(self, text: str) -> str:
        delimiter, returned = self.properties.delimiters
        return text.replace(delimiter, returned) if delimiter and returned else text
