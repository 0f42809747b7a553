"""GetCustomFile: the text of a file."""

from pydantic import Field

from mnemoir.core.errors import StorageUnavailable
from mnemoir.workflows.config.model import Line
from mnemoir.workflows.file_edits import first_pieces, last_pieces
from mnemoir.workflows.node import Count, NodeProperties, ValueNode
from mnemoir.workflows.step import Step


class Properties(NodeProperties):
    """What a GetCustomFile node may say. A delimiter that is not given is what the other one is, or a line feed."""

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
        """What to look for, and what to put there."""
        delimiter = self.delimiter if self.delimiter is not None else self.returned_delimiter or "\n"
        return delimiter, delimiter if self.returned_delimiter is None else self.returned_delimiter


class GetCustomFile(ValueNode[Properties]):
    """Reads a file from the allowed directories."""

    kind = "GetCustomFile"
    properties_type = Properties
    filled = ("filepath",)

    async def value(self, step: Step) -> str:
        """The text, or a sentence in its place. Raises SettingsError; StorageUnavailable for an unreadable file."""
        path = step.fill(self.properties.filepath).strip()
        if not path:
            return "No filepath specified"
        try:
            text = await self.services.files.read(path)
        except OSError as exc:
            raise StorageUnavailable(
                f"Node {step.definition.title!r}: {path} could not be read: {exc.strerror or exc}. "
                "Mend the file or its path."
            ) from exc
        if text is None:
            return "Custom instruction file did not exist"
        return self._with_delimiters(self._counted(step, text)) or "No additional information added"

    def _counted(self, step: Step, text: str) -> str:
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
