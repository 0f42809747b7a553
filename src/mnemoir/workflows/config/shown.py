"""Files of a config tree for display: a list with the kind of each, and their texts without secrets.

Redaction works on the text of a file, not on parsed JSON, so that lines keep their position and a broken file can be
shown too. In a broken file more is covered than necessary, because values cannot be assigned to keys with certainty.

Paths are relative to the root, with slashes. They are untrusted, so each part is checked, and a link that leads out
of the tree is ignored.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

import orjson

from mnemoir.core.clock import from_epoch, to_text
from mnemoir.core.errors import InvalidRequest, NotFound, SettingsError, TooLarge
from mnemoir.workflows.config.files import MOST_BYTES, read_bytes
from mnemoir.workflows.config.lookup import EXTENSION, parts_of, regular_file

COVER = "[secret]"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SEPARATORS = re.compile(r"[^a-z0-9]")
_PARTS = re.compile("apikey|secret|passw|passphrase|authoriz|credential|bearer|cookie|privatekey|accesskey|headers")
_WHOLE = frozenset({"auth", "keys", "pass", "pwd", "pw", "sig", "signature", "tokens"})
_SWITCHES = frozenset({"encryptusingapikey"})  # named after a key, and none
# words in names of keys, from prompts, samplers and this format
_HARMLESS = re.compile(
    "(bos|eos|end|start|stop|pad|unk|special|mask|first|last|think|separator|ban)token|conditionalkey"
)
_VARIABLE = re.compile(r"(?:Bearer +)?\$?\{\{? ?\w+ ?\}?\}")  # a variable in place of a value
_VALUES = (
    re.compile(r"(?:(?<=://)|(?<=:\\/\\/))[^/\s\"'@]*@"),  # name and password in an address
    re.compile(r"(?i)(?<=[?&])([\w-]*(?:key|token|sig|secret|password)=)[^&\s\"']+"),
    re.compile(r"(?i)\b(?:bearer|basic) +[\w.~+/=-]{8,}"),
    re.compile(r"\b(?:sk|pk|rk|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[a-z])[-_][\w-]{12,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"),  # a JSON Web Token
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"]*"),
)
# a key that is probably followed by a value
_BROKEN_KEY = re.compile(r"[\w$\\-]+(?=[\"']\s*(?:[:=,\"']|$)|\s*[:=])")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
FileKind = Literal[
    "users",
    "workflows",
    "discussion-settings",
    "routing",
    "endpoints",
    "api-types",
    "presets",
    "prompt-templates",
    "other",
]
_BY_FOLDER: Mapping[str, FileKind] = {kind.replace("-", ""): kind for kind in get_args(FileKind)}
_CURRENT_USER = "users/_current-user.json"


def redacted_text(text: str) -> str:
    """The text of a JSON file, valid or broken, with everything that looks like a secret covered."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return without_secrets(_redacted_broken_text(text))
    return _sound(text)


def is_secret(key: str) -> bool:
    """True when the value of a key with that name must be covered, with everything inside it."""
    plain = _SEPARATORS.sub("", key.lower())
    if plain in _SWITCHES:
        return False
    if _PARTS.search(plain) or plain in _WHOLE:
        return True
    return plain.endswith(("token", "key")) and not _HARMLESS.search(plain)


@dataclass(slots=True)
class _Level:
    """An object or a list that is still open."""

    is_object: bool
    is_secret: bool
    key: str = ""

    @property
    def covers(self) -> bool:
        """True when its next value is secret."""
        return self.is_secret or (self.is_object and is_secret(self.key))


def _sound(text: str) -> str:
    out: list[str] = []
    at = 0
    for start, end, shown in _covered_tokens(text):
        out += [text[at:start], shown]
        at = end
    return "".join([*out, text[at:]])


def _covered_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and replacement of each token that is not shown as written."""
    levels = [_Level(is_object=False, is_secret=False)]
    tokens = list(_TOKEN.finditer(text))
    followers = [token[0] for token in tokens[1:]] + [""]
    for token, follower in zip(tokens, followers, strict=True):
        written, level = token[0], levels[-1]
        if written in "{[":
            levels.append(_Level(is_object=written == "{", is_secret=level.covers))
        elif written in "}]":
            levels.pop()
        elif written in ",:":
            continue
        else:
            if follower == ":":
                level.key = orjson.loads(written)
            hides = follower != ":" and level.covers and _tells(written)
            shown = f'"{COVER}"' if hides else _json_without_secrets(written)
            if shown != written:
                yield *token.span(), shown


def _tells(written: str) -> bool:
    """True for a value that reveals something: not an empty text, a constant or the name of a variable."""
    return written not in ('""', "null", "true", "false") and not _VARIABLE.fullmatch(written.strip('"'))


def _json_without_secrets(written: str) -> str:
    """A JSON text without the secrets in it. Escapes are decoded before the search: `\\u0040` means @."""
    if not written.startswith('"'):
        return written
    value = orjson.loads(written)
    covered = without_secrets(value)
    return written if covered == value else orjson.dumps(covered).decode()


def without_secrets(text: str) -> str:
    """A plain text without the parts that look like secrets."""
    for secret in _VALUES:
        text = secret.sub(_covered_value, text)
    return text


def _covered_value(found: "re.Match[str]") -> str:
    """The covered match, with the part that shows the kind of secret."""
    if found.re.groups:
        return f"{found[1]}{COVER}"
    return f"{COVER}@" if found[0].endswith("@") else COVER


def _redacted_broken_text(text: str) -> str:
    """A broken file with all text after a secret key covered, beyond the line where the value may continue."""
    out: list[str] = []
    for line in text.splitlines(keepends=True):
        secret = next((key for key in _BROKEN_KEY.finditer(line) if is_secret(_unescaped_key(key[0]))), None)
        if secret is None:
            out.append(line)
            continue
        rest = line[secret.end() :]
        out.append(f"{line[: secret.end()]} {COVER}\n")
        if _may_go_on(rest):
            break
    return "".join(out)


def _unescaped_key(key: str) -> str:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 16)), key)


def _may_go_on(rest: str) -> bool:
    """True when the value may continue on the next line: it is not a complete quoted text with nothing open after it.

    `rest` begins with the quote that ends the key, if there is one.
    """
    value = rest.strip().removeprefix('"').lstrip(" \t:=")
    return value.count('"') != 2 or not value.startswith('"') or not value.rstrip(",}] \t").endswith('"')


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """One file of the tree. `can_remember` is True for workflows that recall or remember, None for other files."""

    path: str
    kind: FileKind
    size_bytes: int
    modified_at: str | None  # as in `core.clock`; None when the file system's time is out of range
    can_remember: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigText:
    """The text of a file; `is_redacted` is True when secrets in it were covered.

    `digest` is that of the text as it is shown, so it tells nothing of a secret. `has_kept` is True when an earlier
    version of a workflow can be restored.
    """

    path: str
    kind: FileKind
    text: str
    is_redacted: bool
    digest: str
    has_kept: bool = False


def kind_of(path: str) -> FileKind:
    """The kind of a file, by its folder."""
    if path.lower() == _CURRENT_USER:
        return "other"
    return _BY_FOLDER.get(path.partition("/")[0].lower(), "other")


def listed_files(root: str) -> Iterator[ConfigFile]:
    """All JSON files of the tree that can be looked up by name, in order; links out of the tree are left out."""
    for path in sorted(_paths(root)):
        place = os.path.join(root, path)
        try:
            found = regular_file(place) if _is_inside(place, root) else None
        except SettingsError:
            continue
        if found is not None:
            changed = from_epoch(found.stat.st_mtime)
            yield ConfigFile(
                path=path,
                kind=kind_of(path),
                size_bytes=found.stat.st_size,
                modified_at=to_text(changed) if changed else None,
            )


def shown_text(root: str, path: str) -> ConfigText:
    """The text of a file. Raises InvalidRequest for an invalid path, NotFound for a missing file, and TooLarge."""
    check_path(path)
    place = os.path.join(root, *path.split("/"))
    try:
        found = regular_file(place) if path.lower().endswith(EXTENSION) and _is_inside(place, root) else None
        if found is None:
            raise absent(path)
        if found.stat.st_size > MOST_BYTES:
            raise TooLarge(f"{path} is over {MOST_BYTES // 1024 // 1024} MiB.")
        content = read_bytes(place, root)
    except SettingsError as exc:
        raise NotFound(f"{path} cannot be read. Correct its permissions.", code="config_file_not_found") from exc
    return config_text(path, content)


def config_text(path: str, content: bytes) -> ConfigText:
    """The content of a file for display. Raises InvalidRequest for anything but UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidRequest(f"{path} is not UTF-8 text. Save it as UTF-8.", code="config_file_unreadable") from exc
    shown = redacted_text(text)
    return ConfigText(path=path, kind=kind_of(path), text=shown, is_redacted=shown != text, digest=digest_of(shown))


def digest_of(shown: str) -> str:
    """The digest of a text as it is shown."""
    return sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


def absent(path: str) -> NotFound:
    """The error for a missing file."""
    return NotFound(f"There is no file {path[:250]!r} in the config tree.", code="config_file_not_found")


def check_path(path: str) -> None:
    """Raise InvalidRequest for a path that no file of a tree can have."""
    try:
        for part in path.split("/"):
            parts_of(part)
    except ValueError as exc:
        raise InvalidRequest(
            f"{path[:80]!r} is no path of a config file: {exc}. Give one from the list of files.", field="path"
        ) from exc


def _is_inside(place: str, root: str) -> bool:
    return os.path.realpath(place).startswith(os.path.join(os.path.realpath(root), ""))


def _paths(root: str) -> Iterator[str]:
    for where, _, names in os.walk(root):
        folder = os.path.relpath(where, root).replace(os.sep, "/")
        for name in names:
            path = name if folder == "." else f"{folder}/{name}"
            if name.lower().endswith(EXTENSION) and _is_nameable(path):
                yield path


def _is_nameable(path: str) -> bool:
    try:
        check_path(path)
    except InvalidRequest:
        return False
    return True
