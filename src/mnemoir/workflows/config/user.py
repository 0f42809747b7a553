"""Users: the settings of a user, which name the workflows, endpoints and folders to use."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from mnemoir.workflows.config.model import ConfigModel, Flag, Line


class UserSettings(ConfigModel):
    """The file `Users/<name in lower case>.json`. Unknown keys are kept for Python modules."""

    port: int | None = Field(None, description="Port to listen on; the command line wins.")
    stream: Flag = Field(True, description="Not used: the client decides.")
    always_custom_workflow: Flag = Field(
        False, alias="customWorkflowOverride", description="Run customWorkflow for every message, without routing."
    )
    custom_workflow: Line = Field("", alias="customWorkflow", description="That workflow.")
    routing: Line = Field("", alias="routingConfig", description="A file in Routing/.")
    categorization_workflow: Line = Field(
        "", alias="categorizationWorkflow", description="Its answer names the category."
    )
    categorization_attempts: int = Field(
        1, alias="maxCategorizationAttempts", description="How often to ask until a category is named."
    )
    chat_template: Line = Field(
        "", alias="chatPromptTemplateName", description="Template of chat_* variables and of endpoints without one."
    )
    adds_role_names: Flag = Field(
        False, alias="chatCompleteAddUserAssistant", description="Write `User: ` and `Assistant: ` before turns."
    )
    adds_missing_assistant: Flag = Field(
        False,
        alias="chatCompletionAddMissingAssistantGenerator",
        description="End the conversation with an assistant's turn to go on from.",
    )
    endpoint_folder: Line = Field("", alias="endpointConfigsSubDirectory", description="Folder below Endpoints/.")
    preset_folder: Line = Field(
        "", alias="presetConfigsSubDirectoryOverride", description="Folder below Presets/<type>/; else the user."
    )
    workflow_folder: Line = Field(
        "", alias="workflowConfigsSubDirectoryOverride", description="Folder below Workflows/; else the user."
    )
    shares_workflows: Flag = Field(
        False, alias="allowSharedWorkflows", description="Offer the shared workflow folders as models."
    )
    shared_folder: Line = Field(
        "_shared", alias="sharedWorkflowsSubDirectoryOverride", description="Their folder below Workflows/."
    )
    discussion_directory: Line = Field(
        "", alias="discussionDirectory", description="Where the files of discussions are kept."
    )
    encrypts_discussions: Flag = Field(
        False, alias="encryptUsingApiKey", description="Encrypt discussions by the key that the client sends."
    )
    lock_directory: Line = Field("", alias="sqlLiteDirectory", description="Where the database of locks is kept.")
    uses_wikipedia: Flag = Field(False, alias="useOfflineWikiApi", description="Ask the offline Wikipedia service.")
    wikipedia_host: Line = Field("127.0.0.1", alias="offlineWikiApiHost", description="Its host.")
    wikipedia_port: int = Field(5728, alias="offlineWikiApiPort", description="Its port.")
    connect_timeout_s: float | None = Field(
        None, alias="connectTimeoutInSeconds", description="Seconds to connect to a model's server."
    )
    logs_to_file: Flag = Field(False, alias="useFileLogging", description="Write a log file below logs/.")
    intercepts_tool_choice: Flag = Field(
        False,
        alias="interceptOpenWebUIToolRequests",
        description="Answer Open WebUI's question which tools to use without asking a model.",
    )
    variables: Mapping[str, Any] = Field(
        default_factory=dict, alias="userWideWorkflowVariables", description="Variables of all workflows."
    )
    separates_conversation: Flag = Field(
        False, alias="separateConversationInVariables", description="Join turns in variables by the delimiter below."
    )
    conversation_delimiter: Line = Field("\n", alias="conversationSeparationDelimiter", description="That delimiter.")
    chat_summary_workflow: Line = Field("", alias="chatSummaryToolWorkflow", description="Run by FullChatSummary.")
    recent_memory_workflow: Line = Field("", alias="recentMemoryToolWorkflow", description="Run by RecentMemory.")
    conversation_memory_workflow: Line = Field(
        "", alias="conversationMemoryToolWorkflow", description="Run by ConversationMemory."
    )
    discussion_settings: Line = Field(
        "", alias="discussionIdMemoryFileWorkflowSettings", description="The file that tells how memories are made."
    )

    @property
    def only_shares(self) -> bool:
        """True when only shared folders can answer: the file names no workflow of the user's own."""
        return self.shares_workflows and not (
            self.always_custom_workflow or self.routing or self.categorization_workflow
        )
