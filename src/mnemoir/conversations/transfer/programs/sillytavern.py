"""Reader of SillyTavern's chats: lines of messages behind a header, with swipes as branches and speakers by name."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from mnemoir.conversations.transfer.programs.chats import ForeignChat
from mnemoir.conversations.transfer.programs.loose import Loose, instant_of
from mnemoir.conversations.transfer.programs.said import Said, role_of
from mnemoir.core.conversations import Message, Role

_NARRATORS = ("narrator", "comment")
_NOTICES = ("help", "welcome", "welcome_prompt", "empty", "generic", "slash_commands", "formatting", "macros",
            "group", "assistant_note", "hotkeys")  # fmt: skip  # of the program itself
_PROGRAM = "SillyTavern System"
_IN_WORDS = re.compile(r"(\w{3,9}) (\d{1,2}), (\d{4}) (\d{1,2}):(\d{2}) ?([ap])m", re.ASCII | re.IGNORECASE)
_IN_DIGITS = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def read_sillytavern(chat_file: Loose) -> ForeignChat:
    """The chat of the file's first line, `header`, and of all others, its `messages`."""
    header = chat_file.object("header")
    user, character = header.text("user_name"), header.text("character_name")
    about = header.object("chat_metadata")
    chat = ForeignChat(
        id=about.name("chat_id") or about.name("integrity"),
        title=about.text("title") or ("" if character == "unused" else character),
        created_at=_instant(header.raw("create_date")),
    )
    if note := about.words("note_prompt"):
        chat.custom["authors_note"] = note
    lines = list(chat.objects(chat_file, "messages"))
    chat.left_out.see("user char")  # the marks for the two names
    names = _Names(user, character, lines)
    above: str | None = None
    for number, line in enumerate(lines):
        above = _add_line(chat, names, line, number, above)
    chat.head = above
    return chat


class _Names:
    """The speakers' names: of a group each, of a chat of two only a further one."""

    def __init__(self, user: str, character: str, lines: Sequence[Loose]) -> None:
        spoken = [line.text("name") for line in lines if not line.flag("is_user") and not line.flag("is_system")]
        self.user = user or next((line.text("name") for line in lines if line.flag("is_user")), "User")
        self.character = character if character not in ("", "unused") else next(iter(spoken), "Character")
        self._is_group = len(set(spoken)) > 1

    def fill_in(self, text: str) -> str:
        """The text with the names in place of the marks for them."""
        for mark, name in (("{{user}}", self.user), ("{{char}}", self.character)):
            text = re.sub(re.escape(mark), name.replace("\\", r"\\"), text, flags=re.IGNORECASE)
        return text

    def of(self, line: Loose, role: Role) -> str | None:
        """The name of who speaks a line, where it tells more than the role."""
        name = self.fill_in(line.text("name"))
        if role == "user":
            return name if name not in ("", self.user) else None
        return name if name and (self._is_group or name != self.character) else None


def _add_line(chat: ForeignChat, names: _Names, line: Loose, number: int, above: str | None) -> str | None:
    """Add the message of a line with its swipes; the name of the one that was chosen."""
    extra = line.object("extra")
    kind = extra.text("type")
    if line.text("name") == _PROGRAM or kind in _NOTICES:
        chat.left_out.note("notices", line.words("mes"))
        return above
    told = role_of(line.raw("role")) or ("user" if line.flag("is_user") else "assistant")
    role: Role = "system" if kind in _NARRATORS else told
    texts = [(at, words) for at, words in enumerate(line.values("swipes")) if isinstance(words, str) and words]
    chosen = line.number("swipe_id") or 0
    infos = line.objects("swipe_info")
    shown = line.words("mes")
    if shown.strip() or not texts:
        texts = [(chosen, shown), *(one for one in texts if one[0] != chosen and one[1] != shown)]
    for at, words in sorted(texts):
        is_chosen = at == chosen
        info = line if is_chosen or at >= len(infos) else infos[at]
        more = extra if is_chosen else info.object("extra") if info is not line else Loose(None)
        chat.model(more.text("model"))
        created_at = _instant(info.raw("send_date"))
        messages = _messages_of(chat, role, names.of(line, role), names.fill_in(words), more)
        chat.add(f"{number}.{at}", above, messages, created_at=created_at)
    counted = {at for at, _ in texts if at != chosen}
    thoughts = {info.object("extra").words("reasoning") for at, info in enumerate(infos) if at not in counted}
    for words in sorted(thoughts - {extra.words("reasoning")}):
        chat.left_out.note("thinking", words)  # of a swipe that says what another says
    return f"{number}.{chosen}" if f"{number}.{chosen}" in chat.nodes else f"{number}.{sorted(texts)[0][0]}"


def _messages_of(chat: ForeignChat, role: Role, name: str | None, words: str, extra: Loose) -> list[Message]:
    said = Said(role, chat.left_out, name)
    said.think(extra.words("reasoning"))
    for picture in _pictures(extra):
        said.picture(picture, extra.text("title"))
    if extra.text("file"):
        said.file(extra.text("file"))
    for file in [*extra.objects("files"), *([extra.object("file")] if extra.object("file") else [])]:
        said.file(file.name("name", "url"), file.words("text"))
    said.text(words)
    return said.messages()


def _pictures(extra: Loose) -> Iterator[str]:
    shown = [extra.raw("image"), *extra.values("image_swipes")]
    shown += [one.text("url") for one in extra.objects("media")]
    yield from dict.fromkeys(url for url in shown if isinstance(url, str) and url)


def _instant(told: object) -> datetime | None:
    """The time in any of the forms that the program has written: ISO 8601, milliseconds, and two of its own."""
    if not isinstance(told, str) or (found := instant_of(told)) is not None:
        return instant_of(told) if not isinstance(told, str) else found
    if (digits := _IN_DIGITS.search(told)) is not None:
        year, month, day, hour, minute, second = (int(part) for part in digits.groups()[:6])
        return _time(year, month, day, hour, minute, second)
    if (words := _IN_WORDS.search(told)) is not None and words[1][:3].lower() in _MONTHS:
        hour = int(words[4]) % 12 + (12 if words[6].lower() == "p" else 0)
        month = _MONTHS.index(words[1][:3].lower()) + 1
        return _time(int(words[3]), month, int(words[2]), hour, int(words[5]), 0)
    return None


def _time(*parts: int) -> datetime | None:
    try:
        return instant_of(datetime(*parts).isoformat() + "Z")  # type: ignore[arg-type]  # six whole numbers
    except ValueError:
        return None
