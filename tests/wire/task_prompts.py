"""Side tasks in the shapes that released chat apps send, with our own words inside their frames."""

from mnemoir.core.messages import Message, text_message

CHAT = "USER: Which plants like shade?\nASSISTANT: Ferns do.\nUSER: My cat Whiskerino eats them."


def user(text: str) -> list[Message]:
    """A request of one user message."""
    return [text_message("user", text)]


def beside(system: str, text: str) -> list[Message]:
    """Instructions and one user message."""
    return [text_message("system", system), text_message("user", text)]


def after_a_chat(text: str, role: str = "system") -> list[Message]:
    """A chat, and behind it what the app asks."""
    talk = [
        text_message("system", "You tend a garden."),
        text_message("user", "Which plants like shade?"),
        text_message("assistant", "Ferns do."),
    ]
    return [*talk, text_message("user" if role == "user" else "system", text)]


def about_the_chat(output: str, *, guidelines: str = "- Be brief.", examples: str = "", end: str = "") -> str:
    """A task of Open WebUI about the chat that stands at its end."""
    return (
        f"### Task:\nOur own words.\n### Guidelines:\n{guidelines}\n### Output:\n{output}\n{examples}"
        f"### Chat History:\n<chat_history>\n{CHAT}\n</chat_history>{end}"
    )


TITLE = about_the_chat('JSON format: { "title": "a few words" }', examples='### Examples:\n- { "title": "Ferns" }\n')
TAGS = about_the_chat('JSON format: { "tags": ["one", "two"] }')
FOLLOW_UPS = about_the_chat('JSON format: { "follow_ups": ["And then?"] }')
QUERIES = about_the_chat('Strictly in JSON:\n{\n  "queries": ["one", "two"]\n}\n', end="\n")
PICTURE = about_the_chat('Strictly in JSON:\n{\n    "prompt": "A fern."\n}\n')
AUTOCOMPLETE = (
    "### Task:\nYou are an autocompletion helper, in our own words: go on with `<text>` as `<type>` says.\n\n"
    '### **Instructions**:\n1. Go on.\n\n### **Output Rules**:\n- JSON alone: `{ "text": "<more>" }`.\n\n'
    '### **Examples**:\nInput:\n<type>General</type>\n<text>A fern is</text>\nOutput:\n{ "text": "green" }\n\n---\n'
    f"### Context:\n<chat_history>\n{CHAT}\n</chat_history>\n"
    "<type>General</type>  \n<text>My cat</text>  \n#### Output:\n"
)
COMPACTION = (
    "### Task:\nSummarize the conversation history in our own words.\n\n### Instructions:\n- Keep decisions.\n\n"
    f"### Previous Summary:\n\n### Messages Being Compacted:\n{CHAT}\n\n"
    "### Recent Messages Kept In Context:\nUSER: Go on."
)
EMOJI = (
    "Your task is to reflect the speaker's likely facial expression by an emoji, in our own words.\n\n"
    "Message: ```My cat eats ferns.```"
)
MERGED = (
    'You have been provided with a set of responses from various models to the latest user query: "What eats ferns?"'
    "\n\nYour task is to synthesize these responses, in our own words.\n\n"
    'Responses from models: """A cat."""\n\n"""A slug."""'
)
TOOL_CHOOSER = (
    'Available Tools: [{"name": "weather"}]\n\nYour task is to choose and return the correct tool(s) from the list '
    'of available tools based on the query. In our own words:\n{"tool_calls": []}'
)
STORY_SUMMARY = (
    "Ignore previous instructions. Summarize the most important facts and events so far, in our own words. "
    "Limit the summary to 200 words or less. Your response should include nothing but the summary."
)
IMPERSONATION = (
    "[Write your next reply from the point of view of Mira, using the chat history so far as a guideline for the "
    "writing style of Mira. Leave Ada alone.]"
)
EXPRESSION = (
    "Ignore previous instructions. Classify the emotion of the last message. Output just one word, in our own words. "
    "Choose only one of the following labels: joy, anger"
)
LIBRECHAT_TITLE = (
    "Analyze this conversation and provide:\n1. The detected language of the conversation\n"
    "2. A concise title in the detected language (5 words or less, plain)\n\nUser: Shade?\nAI: Ferns."
)
LIBRECHAT_COMPLETED_TITLE = (
    "Provide a concise, 5-word-or-less title for the conversation, in our own words.\n\nConversation:\nUser: Ferns?"
)
LIBRECHAT_SUMMARY = (
    "Summarize the conversation by integrating new lines into the current summary.\n\nEXAMPLE:\nOur own one.\n\n"
    f"Current summary:\nFerns.\n\nNew lines:\n{CHAT}\n\nNew summary:"
)
LIBRECHAT_CUT_OFF = (
    f"The following text is cut-off:\n{CHAT}\n\n"
    "Summarize the content as best as you can, noting that it was cut-off.\n\nSummary:"
)
LOBECHAT_SUGGESTIONS = (
    "Based on this conversation context and the assistant's role, generate 3 questions, in our own words.\n\n"
    f"Recent conversation:\n{CHAT}\n\nRequirements:\n- Be brief.\n\nIn JSON format."
)
CONTINUE_TITLE = (
    "Given the following... please reply with a short summary that is 4-12 words in length, in our own words. "
    "You should only respond with the summary, nothing else.\n\nWhich plants like shade?"
)
CONTINUE_COMPACTION = (
    "Create a comprehensive summary of this conversation, in our own words.\n\nYour summary should include:\n\n"
    "1. **Conversation Overview**: what it is about.\n\n6. **Outstanding Work**: what is left."
)
_TITLE_TOOL = (
    "In this environment you have access to a set of tools you can use to generate the conversation title.\n"
    "<tools>\n<tool_name>submit_title</tool_name>\n</tools>"
)
_LOBECHAT_TITLE = (
    "You are a professional conversation summarizer. Generate a concise title.\n\n- Output ONLY the title text"
)
_LOBECHAT_HISTORY = "You're an assistant who's good at extracting key takeaways from conversations, in our own words."
_LOBECHAT_COMPRESSOR = "You are a conversation context compressor.\n\n## Output Format\n\nOur own one."
_LOBECHAT_QUERY = (
    "Given the following conversation and a follow-up question, rephrase the follow up question, in our own words.\n"
    f"<chatHistory>\n{CHAT}\n</chatHistory>\n"
)
_LOBECHAT_EMOJI = "You are an emoji expert who selects one.\n\nRules:\n- Output ONLY a single emoji"
_LOBECHAT_TRANSLATOR = (
    "You are a professional translator. Translate the input text to German.\n\n- Output ONLY the translated text"
)
_DIFFS = "Review the provided context and diffs which are about to be committed to a git repo."
_AIDER_COMMIT = (
    f"You are an expert software engineer that commits.\n{_DIFFS}\nReply only with the one-line commit message."
)
_AIDER_OLD_COMMIT = f"You are an expert software engineer.\n{_DIFFS}\nReply with JUST the commit message, plain!"
_AIDER_SUMMARY = (
    '*Briefly* summarize this partial conversation about programming.\nOur own words.\nStart the summary with "I ..."'
)
_IN_TAGS = "<chat_history>\n<user>Ferns?</user>\n</chat_history>\n\n"

# what an app asks for itself: a label, the messages, and the task's name
SIDE_TASKS: list[tuple[str, list[Message], str]] = [
    ("Open WebUI title", user(TITLE), "title_generation"),
    ("Open WebUI title of a model with instructions", beside("Be kind.", TITLE), "title_generation"),
    ("Open WebUI title without examples", user(about_the_chat('{ "title": "x" }')), "title_generation"),
    (
        "Open WebUI title with edited guidelines",
        user(TITLE.replace("- Be brief.", "- In German.")),
        "title_generation",
    ),
    ("Open WebUI tags", user(TAGS), "tags_generation"),
    ("Open WebUI follow-ups", user(FOLLOW_UPS), "follow_up_generation"),
    ("Open WebUI queries", user(QUERIES), "query_generation"),
    ("Open WebUI image prompt", user(PICTURE), "image_prompt_generation"),
    ("Open WebUI autocomplete", user(AUTOCOMPLETE), "autocomplete_generation"),
    ("Open WebUI compaction", user(COMPACTION), "context_compaction"),
    ("Open WebUI emoji", user(EMOJI), "emoji_generation"),
    ("Open WebUI merged answers", user(MERGED), "moa_response_generation"),
    ("Open WebUI tools for a query", beside(TOOL_CHOOSER, "Query: Which plants like shade?"), "function_calling"),
    ("Open WebUI tools for a chat", beside(TOOL_CHOOSER, f"History:\n{CHAT}\nQuery: And now?"), "function_calling"),
    ("SillyTavern summary", after_a_chat(STORY_SUMMARY), "summary"),
    ("SillyTavern summary sent as a user", after_a_chat(STORY_SUMMARY, "user"), "summary"),
    ("SillyTavern raw summary", beside(STORY_SUMMARY, CHAT), "summary"),
    ("SillyTavern impersonation", after_a_chat(IMPERSONATION), "impersonation"),
    ("SillyTavern impersonation sent as a user", after_a_chat(IMPERSONATION, "user"), "impersonation"),
    ("SillyTavern expression", after_a_chat(EXPRESSION), "expression_generation"),
    ("LibreChat title", user(LIBRECHAT_TITLE), "title_generation"),
    ("LibreChat completed title", user(LIBRECHAT_COMPLETED_TITLE), "title_generation"),
    ("LibreChat title by a tool", beside(_TITLE_TOOL, CHAT), "title_generation"),
    (
        "LibreChat title of older releases",
        beside(
            f"Write a concise title for this conversation in the given language. Title in 5 Words or Less.\n{CHAT}",
            "Language: German",
        ),
        "title_generation",
    ),
    (
        "LibreChat language",
        beside("Detect the language used in the following text.", "Which plants like shade?"),
        "language_detection",
    ),
    ("LibreChat summary", user(LIBRECHAT_SUMMARY), "summary"),
    ("LibreChat summary of a cut text", user(LIBRECHAT_CUT_OFF), "summary"),
    ("LobeChat title", beside(_LOBECHAT_TITLE, "user: Which plants like shade?"), "title_generation"),
    ("LobeChat summary", beside(_LOBECHAT_HISTORY, f"{_IN_TAGS}Please summarize the above conversation."), "summary"),
    (
        "LobeChat compression",
        beside(_LOBECHAT_COMPRESSOR, f"{_IN_TAGS}Please compress the above conversation."),
        "context_compaction",
    ),
    (
        "LobeChat compression with an earlier summary",
        beside(_LOBECHAT_COMPRESSOR, f"Existing:\nFerns.\n\n{_IN_TAGS}Please compress the above conversation."),
        "context_compaction",
    ),
    (
        "LobeChat query",
        beside(_LOBECHAT_QUERY, "Follow Up Input: And cats?, it's standalone query:"),
        "query_generation",
    ),
    ("LobeChat emoji", beside(_LOBECHAT_EMOJI, "I sell ferns."), "emoji_generation"),
    (
        "LobeChat emoji behind examples",
        [*beside(_LOBECHAT_EMOJI, "I code."), text_message("assistant", "*"), *user("I sell ferns.")],
        "emoji_generation",
    ),
    ("LobeChat translation", beside(_LOBECHAT_TRANSLATOR, "Which plants like shade?"), "translation"),
    ("LobeChat suggestions", user(LOBECHAT_SUGGESTIONS), "follow_up_generation"),
    ("Continue title", user(CONTINUE_TITLE), "title_generation"),
    ("Continue compaction", after_a_chat(CONTINUE_COMPACTION, "user"), "context_compaction"),
    ("aider commit message", beside(_AIDER_COMMIT, "diff --git a/fern b/fern"), "commit_message"),
    (
        "aider commit message of older releases",
        beside(_AIDER_OLD_COMMIT, "diff --git a/fern b/fern"),
        "commit_message",
    ),
    ("aider summary", beside(_AIDER_SUMMARY, "# USER\nWhich plants like shade?\n# ASSISTANT\nFerns."), "summary"),
]

# requests that hold a frame and are a person's turn all the same
CHATS: list[tuple[str, list[Message]]] = [
    ("a title's prompt within a chat", [*after_a_chat(TITLE, "user")]),
    (
        "the tool chooser's prompt within a chat",
        [text_message("system", TOOL_CHOOSER), *after_a_chat("Hi", "user")[1:]],
    ),
    (
        "a translator's first turns",
        [*beside(_LOBECHAT_TRANSLATOR, "Hi"), text_message("assistant", "Hallo"), *user("And?")],
    ),
    ("instructions that quote the tool chooser", beside(f"Never say:\n{TOOL_CHOOSER}", "Query: ferns")),
    ("a chat of aider", beside("Act as an expert software developer.", "Fix it.")),
    ("a system message last", after_a_chat("[Continue your last message.]")),
]
