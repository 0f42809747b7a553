"""Redaction of config files: values that look like secrets are covered, all other text stays unchanged.

Redaction works on the text of a file, not on parsed JSON, so that lines keep their position and a broken file can be
shown too. In a broken file more is covered than necessary, because values cannot be assigned to keys with certainty.
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


def redacted(text: str) -> str:
    """The text of a JSON file, valid or broken, with everything that looks like a secret covered."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return without_secrets(_broken(text))
    return _sound(text)


def is_secret(key: str) -> bool:
    """True when the value of a key with that name must be covered, with everything inside it."""
    plain = _SEPARATORS.sub("", key.lower())
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
            shown = f'"{COVER}"' if hides else _shown(written)
            if shown != written:
                yield *token.span(), shown


def _tells(written: str) -> bool:
    """True for a value that reveals something: not an empty text, a constant or the name of a variable."""
    return written not in ('""', "null", "true", "false") and not _VARIABLE.fullmatch(written.strip('"'))


def _shown(written: str) -> str:
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


def _broken(text: str) -> str:
    """A broken file with all text after a secret key covered, beyond the line where the value may continue."""
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
    """True when the value may continue on the next line: it is not a complete quoted text with nothing open after it.

    `rest` begins with the quote that ends the key, if there is one.
    """
    value = rest.strip().removeprefix('"').lstrip(" \t:=")
    return value.count('"') != 2 or not value.startswith('"') or not value.rstrip(",}] \t").endswith('"')
