"""Templates of the side tasks that chat apps send to a model themselves, as frames.

A frame holds the few words by which a prompt is recognised: its beginning, its sections in their order, and its
end. The names of tasks are Open WebUI's, where it has such a task.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Open WebUI's default prompt for the selection of tools
TOOL_CHOICE = (
    "Your task is to choose and return the correct tool(s) from the list of available tools based on the query"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The frame of one text: it begins with `head`, holds `marks` in this order, and ends with `end`."""

    head: str
    marks: Sequence[str] = ()
    end: str = ""

    def fits(self, text: str) -> bool:
        """True when the whole text has this frame."""
        if not text.startswith(self.head) or not text.endswith(self.end):
            return False
        at, last = len(self.head), len(text) - len(self.end)
        for mark in self.marks:
            found = text.find(mark, at, last)
            if found < 0:
                return False
            at = found + len(mark)
        return at <= last


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTemplate:
    """One task of an app: the frames of its instructions, of its last message, or of both.

    With `is_alone` it is the only message beside its instructions; else the chat it is about precedes it.
    """

    task: str
    prompt: Shape | None = None
    system: Shape | None = None
    is_alone: bool = True

    def fits(self, system: str, prompt: str) -> bool:
        """True when instructions and last message, both trimmed, are those of this task."""
        if self.system is not None and not self.system.fits(system):
            return False
        return self.prompt is None or self.prompt.fits(prompt)


def _about_the_chat(task: str, answer: str) -> TaskTemplate:
    """A task of Open WebUI: the chat is at its end, and the answer is an object with this member."""
    marks = ("\n### Output:\n", f'"{answer}":', "\n### Chat History:\n<chat_history>\n")
    return TaskTemplate(task=task, prompt=Shape(head="### Task:\n", marks=marks, end="\n</chat_history>"))


_ANY = Shape(head="")
_TOOL_CHOOSER = Shape(head="Available Tools: ", marks=(TOOL_CHOICE, '"tool_calls"'))
_OPEN_WEBUI = (
    _about_the_chat("title_generation", "title"),
    _about_the_chat("tags_generation", "tags"),
    _about_the_chat("follow_up_generation", "follow_ups"),
    _about_the_chat("query_generation", "queries"),
    _about_the_chat("image_prompt_generation", "prompt"),
    TaskTemplate(
        task="autocomplete_generation",
        prompt=Shape(
            head="### Task:\n",
            marks=(
                "autocompletion",
                '"text":',
                "\n### Context:\n<chat_history>\n",
                "\n<type>",
                "\n<text>",
                "</text>",
            ),
            end="\n#### Output:",
        ),
    ),
    TaskTemplate(
        task="context_compaction",
        prompt=Shape(
            head="### Task:\nSummarize the conversation history",
            marks=(
                "\n### Previous Summary:\n",
                "\n### Messages Being Compacted:\n",
                "\n### Recent Messages Kept In Context:",
            ),
        ),
    ),
    TaskTemplate(
        task="memory_review",
        system=Shape(head="You are Open WebUI's private memory reviewer."),
        prompt=Shape(
            head="Review the completed conversation turn", marks=("\nExisting memories:\n", "\nConversation:\n")
        ),
    ),
    TaskTemplate(
        task="subagent",
        system=Shape(
            head="You are a sub-agent working on a specific task assigned by the lead agent.",
            marks=("\nFocus exclusively on your assigned task.",),
        ),
        is_alone=False,  # its tool calls follow
    ),
    TaskTemplate(
        task="emoji_generation",
        prompt=Shape(
            head="Your task is to reflect the speaker's likely facial expression",
            marks=("emoji", "\nMessage: ```"),
            end="```",
        ),
    ),
    TaskTemplate(
        task="moa_response_generation",
        prompt=Shape(
            head="You have been provided with a set of responses from various models to the latest user query:",
            marks=("\nYour task is to synthesize these responses", "\nResponses from models:"),
        ),
    ),
    TaskTemplate(task="function_calling", system=_TOOL_CHOOSER, prompt=Shape(head="Query: ")),
    TaskTemplate(
        task="function_calling", system=_TOOL_CHOOSER, prompt=Shape(head="History:\n", marks=("\nQuery: ",))
    ),
)

_STORY_SUMMARY = Shape(
    head="Ignore previous instructions. Summarize the most important facts and events",
    marks=("Limit the summary to ", "Your response should include nothing but the summary."),
)
_SILLYTAVERN = (
    TaskTemplate(task="summary", prompt=_STORY_SUMMARY, is_alone=False),
    TaskTemplate(task="summary", system=_STORY_SUMMARY, prompt=_ANY),
    TaskTemplate(
        task="impersonation",
        prompt=Shape(
            head="[Write your next reply from the point of view of ",
            marks=("using the chat history so far as a guideline for the writing style of ",),
            end="]",
        ),
        is_alone=False,
    ),
    TaskTemplate(
        task="expression_generation",
        prompt=Shape(
            head="Ignore previous instructions. Classify the emotion of the last message.",
            marks=("Output just one word", "Choose only one of the following labels:"),
        ),
        is_alone=False,
    ),
)

_LIBRECHAT = (
    TaskTemplate(
        task="title_generation",
        prompt=Shape(
            head="Analyze this conversation and provide:\n1. The detected language of the conversation\n",
            marks=("2. A concise title in the detected language (5 words or less", "\n\n"),
        ),
    ),
    TaskTemplate(
        task="title_generation",
        prompt=Shape(
            head="Provide a concise, 5-word-or-less title for the conversation", marks=("\n\nConversation:\n",)
        ),
    ),
    TaskTemplate(
        task="title_generation",
        system=Shape(
            head="Write a concise title for this conversation in the given language.",
            marks=("Title in 5 Words or Less",),
        ),
        prompt=Shape(head="Language: "),
    ),
    TaskTemplate(
        task="title_generation",
        system=Shape(
            head="In this environment you have access to a set of tools you can use to generate",
            marks=("<tool_name>submit_title</tool_name>",),
        ),
        prompt=_ANY,
    ),
    TaskTemplate(
        task="language_detection",
        system=Shape(head="Detect the language used in the following text", end="."),
        prompt=_ANY,
    ),
    TaskTemplate(
        task="summary",
        prompt=Shape(
            head="Summarize the conversation by integrating new lines into the current summary.",
            marks=("\nCurrent summary:\n", "\nNew lines:\n"),
            end="\nNew summary:",
        ),
    ),
    TaskTemplate(
        task="summary",
        prompt=Shape(
            head="The following text is cut-off:\n",
            marks=("\n\nSummarize the content as best as you can, noting that it was cut-off.",),
            end="\nSummary:",
        ),
    ),
)

_LOBECHAT = (
    TaskTemplate(
        task="title_generation",
        system=Shape(
            head="You are a professional conversation summarizer. Generate a concise title",
            marks=("\n- Output ONLY the title text",),
        ),
        prompt=_ANY,
    ),
    TaskTemplate(
        task="summary",
        system=Shape(head="You're an assistant who's good at extracting key takeaways from conversations"),
        prompt=Shape(
            head="<chat_history>\n", marks=("\n</chat_history>\n\nPlease summarize the above conversation",)
        ),
    ),
    TaskTemplate(
        task="context_compaction",
        system=Shape(head="You are a conversation context compressor.", marks=("\n## Output Format\n",)),
        prompt=Shape(head="", marks=("<chat_history>\n", "\n</chat_history>\n\nPlease compress the above")),
    ),
    TaskTemplate(
        task="query_generation",
        system=Shape(
            head="Given the following conversation and a follow-up question, rephrase the follow up question",
            marks=("\n<chatHistory>\n",),
            end="\n</chatHistory>",
        ),
        prompt=Shape(head="Follow Up Input: ", end=", it's standalone query:"),
    ),
    TaskTemplate(
        task="emoji_generation",
        system=Shape(head="You are an emoji expert who selects", marks=("\n- Output ONLY a single emoji",)),
        is_alone=False,  # examples precede it
    ),
    TaskTemplate(
        task="translation",
        system=Shape(
            head="You are a professional translator. Translate the input text to ",
            marks=("\n- Output ONLY the translated text",),
        ),
        prompt=_ANY,
    ),
    TaskTemplate(
        task="follow_up_generation",
        prompt=Shape(
            head="Based on this conversation context and the assistant's role, generate ",
            marks=("\nRecent conversation:\n", "\nRequirements:\n"),
            end="JSON format.",
        ),
    ),
)

_CONTINUE = (
    TaskTemplate(
        task="title_generation",
        prompt=Shape(
            head="Given the following... please reply with a short summary that is 4-12 words in length",
            marks=("You should only respond with the summary", "\n\n"),
        ),
    ),
    TaskTemplate(
        task="context_compaction",
        prompt=Shape(
            head="Create a comprehensive summary of this conversation",
            marks=("Your summary should include:\n", "**Conversation Overview**", "**Outstanding Work**"),
        ),
        is_alone=False,
    ),
)

_COMMIT_ANSWERS = ("Reply with JUST the commit message", "Reply only with the one-line commit message")
_DIFFS = "Review the provided context and diffs which are about to be committed to a git repo."
_AIDER = (
    *(
        TaskTemplate(
            task="commit_message",
            system=Shape(head="You are an expert software engineer", marks=(_DIFFS, asked)),
            prompt=_ANY,
        )
        for asked in _COMMIT_ANSWERS
    ),
    TaskTemplate(
        task="summary",
        system=Shape(
            head="*Briefly* summarize this partial conversation about programming.",
            marks=("Start the summary with ",),
        ),
        prompt=Shape(head="# "),
    ),
)

TASK_TEMPLATES = (*_OPEN_WEBUI, *_SILLYTAVERN, *_LIBRECHAT, *_LOBECHAT, *_CONTINUE, *_AIDER)
