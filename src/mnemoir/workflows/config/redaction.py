"""Config files as they may be shown: what looks like a secret is covered, and all else stays as it was written.

A file is covered by its text, not by what parsing makes of it, so that lines stay where they are, and so that a
broken file can be shown too. Of a broken file more is covered than need be: where it breaks, nobody can tell what
belongs to a key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

COVER = "[secret]"

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_SEPARATORS = re.compile(r"[^a-z0-9]")
_PARTS = re.compile("apikey|secret|passw|passphrase|authoriz|credential|bearer|cookie|privatekey|accesskey|headers")
_WHOLE = frozenset({"auth", "keys", "pass", "pwd", "pw", "sig", "signature", "tokens"})
# words of prompts, of samplers and of this format
_HARMLESS = re.compile(
    "(bos|eos|end|start|stop|pad|unk|special|mask|first|last|think|separator|ban)token|conditionalkey"
)
_VARIABLE = re.compile(r"(?:Bearer +)?\$?\{\{? ?\w+ ?\}?\}")  # a name that stands for a value
_VALUES = (
    re.compile(r"(?:(?<=://)|(?<=:\\/\\/))[^/\s\"'@]*@"),  # name and password in an address
    re.compile(r"(?i)(?<=[?&])([\w-]*(?:key|token|sig|secret|password)=)[^&\s\"']+"),
    re.compile(r"(?i)\b(?:bearer|basic) +[\w.~+/=-]{8,}"),
    re.compile(r"\b(?:sk|pk|rk|gsk|hf|ghp|gho|ghs|github_pat|glpat|xox[a-z])[-_][\w-]{12,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?"),  # a JSON Web Token
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"]*"),
)
# a word that a value follows, as far as that can be told
_BROKEN_KEY = re.compile(r"[\w$\\-]+(?=[\"']\s*(?:[:=,\"']|$)|\s*[:=])")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def redacted(text: str) -> str:
    """The text of a JSON file, sound or broken, with all that looks like a secret covered."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return without_secrets(_broken(text))
    return _sound(text)


def is_secret(key: str) -> bool:
    """Whether the value of a key of that name is not to be shown, with all that is in it."""
    plain = _SEPARATORS.sub("", key.lower())
    if _PARTS.search(plain) or plain in _WHOLE:
        return True
    return plain.endswith(("token", "key")) and not _HARMLESS.search(plain)


@dataclass(slots=True)
class _Level:
    """An object or a list that is open."""

    is_object: bool
    is_secret: bool
    key: str = ""

    @property
    def covers(self) -> bool:
        """Whether what comes next in it is secret."""
        return self.is_secret or (self.is_object and is_secret(self.key))


def _sound(text: str) -> str:
    out: list[str] = []
    at = 0
    for start, end, shown in _covered_tokens(text):
        out += [text[at:start], shown]
        at = end
    return "".join([*out, text[at:]])


def _covered_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Where a token is that is not shown as written, and how it is shown."""
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
            shown = f'"{COVER}"' if hides else _shown(written)
            if shown != written:
                yield *token.span(), shown


def _tells(written: str) -> bool:
    """Whether a value tells anything: an empty text does not, nor does the name of a variable."""
    return written not in ('""', "null", "true", "false") and not _VARIABLE.fullmatch(written.strip('"'))


def _shown(written: str) -> str:
    """A text without the secrets in it, read before it is searched: `\\u0040` is as good as @."""
    if not written.startswith('"'):
        return written
    value = orjson.loads(written)
    covered = without_secrets(value)
    return written if covered == value else orjson.dumps(covered).decode()


def without_secrets(text: str) -> str:
    """A plain text without what is a secret by its looks."""
    for secret in _VALUES:
        text = secret.sub(_covered_value, text)
    return text


def _covered_value(found: "re.Match[str]") -> str:
    """What a reader needs to know what it was stays."""
    if found.re.groups:
        return f"{found[1]}{COVER}"
    return f"{COVER}@" if found[0].endswith("@") else COVER


def _broken(text: str) -> str:
    """All behind a secret key on its line is covered, and all that follows where the value may go on."""
    out: list[str] = []
    for line in text.splitlines(keepends=True):
        secret = next((key for key in _BROKEN_KEY.finditer(line) if is_secret(_unescaped(key[0]))), None)
        if secret is None:
            out.append(line)
            continue
        rest = line[secret.end() :]
        out.append(f"{line[: secret.end()]} {COVER}\n")
        if _may_go_on(rest):
            break
    return "".join(out)


def _unescaped(key: str) -> str:
    return _ESCAPE.sub(lambda code: chr(int(code[1], 16)), key)


def _may_go_on(rest: str) -> bool:
    """Whether a value that is not a whole text, with quotes around it and nothing open behind it, is on the line.

    `rest` begins with the quote that ends the key, if there is one.
    """
    value = rest.strip().removeprefix('"').lstrip(" \t:=")
    return value.count('"') != 2 or not value.startswith('"') or not value.rstrip(",}] \t").endswith('"')
