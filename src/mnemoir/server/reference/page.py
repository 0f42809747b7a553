"""The page `/docs`: each operation with what it takes, an example of what it answers, and a form that sends it.

It loads nothing from elsewhere, and its one script is `try.js`, which reads what a form says and shows the answer.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import orjson

from mnemoir.server.reference.examples import example_of

Schemas = Mapping[str, Any]

STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1a1a1a; --line: #d5d9d8; --soft: #f3f5f4; --faint: #5b6664;
  --accent: #0b5d57; }
@media (prefers-color-scheme: dark) { :root { --page: #161616; --text: #e6e6e6; --line: #3d4543; --soft: #232827;
  --faint: #a3adab; --accent: #6cc; } }
body { font: 16px/1.5 Inter, system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--page); color: var(--text); }
h2 { margin: 2.5rem 0 .5rem; text-transform: capitalize; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
details h3 { font: 600 .875rem Inter, system-ui, sans-serif; margin: 1rem 0 .25rem; color: var(--faint); }
a { color: var(--accent); }
nav a { display: inline-block; margin-right: 1rem; text-transform: capitalize; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .375rem 0; }
summary { display: grid; grid-template-columns: 4rem minmax(0, 1fr) minmax(0, 1fr); gap: 0 .75rem;
  padding: .5rem .75rem; cursor: pointer; }
@media (max-width: 48rem) { summary { grid-template-columns: 4rem minmax(0, 1fr); } summary span { grid-column: 2; } }
summary b { color: var(--accent); font: 600 .875rem/1.7 ui-monospace, monospace; }
summary code { overflow-wrap: anywhere; line-height: 1.7; font-weight: 600; }
summary span { color: var(--faint); }
details > div { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
p { margin: .5rem 0; }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: .5rem 0; }
td { padding: .15rem 1rem .15rem 0; vertical-align: top; }
code, pre, input, textarea { font: .875rem ui-monospace, monospace; }
p code { overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .75rem; margin: .25rem 0; max-height: 24rem; overflow: auto;
  border-radius: 6px; }
label { display: block; margin: .5rem 0; font-size: .875rem; }
input, textarea { box-sizing: border-box; width: 100%; padding: .375rem .5rem; border: 1px solid var(--line);
  border-radius: 4px; background: var(--page); color: var(--text); }
button { font: inherit; padding: .375rem 1rem; border: 0; border-radius: 4px; background: var(--accent);
  color: var(--page); cursor: pointer; }
"""
_CODE = re.compile(r"`([^`]+)`")
_MOST_SHOWN = 4000  # characters of an example


def page(schema: Mapping[str, Any], *, root: str, needs_key: bool) -> str:
    """The page for an OpenAPI description of a server whose paths begin with `root`."""
    info, schemas = schema["info"], schema.get("components", {}).get("schemas", {})
    by_tag = _by_tag(schema["paths"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(info['title'])} API</title><style>{STYLE}</style>"
        f'<script src="{escape(root)}/docs/try.js" defer></script></head><body data-root="{escape(root)}">'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{_words(info.get('description', ''))}</p>"
        f'<p>For programs: <a href="{escape(root)}/openapi.json">openapi.json</a>. Open an operation to read what '
        "it takes and answers, and to send it to this server. What is sent changes and deletes for real.</p>"
        f"{_KEY if needs_key else ''}<nav>{_links(by_tag)}</nav>{''.join(_sections(by_tag, schemas))}"
        f'<h2 id="shapes">Shapes</h2>{"".join(_shapes(schemas))}</body></html>'
    )


_KEY = (
    "<p>This server asks for a key.</p>"
    '<label>Key, kept until this page is closed <input id="key" type="password" autocomplete="off"></label>'
)


def _by_tag(paths: Mapping[str, Any]) -> dict[str, list[tuple[str, str, Mapping[str, Any]]]]:
    found: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            found.setdefault((operation.get("tags") or ["other"])[0], []).append((method, path, operation))
    return found


def _links(tags: Mapping[str, Any]) -> str:
    return "".join(f'<a href="#{_anchor(tag)}">{escape(tag)}</a>' for tag in [*tags, "shapes"])


def _sections(by_tag: Mapping[str, list[tuple[str, str, Mapping[str, Any]]]], schemas: Schemas) -> Iterator[str]:
    for tag, operations in by_tag.items():
        yield f'<h2 id="{_anchor(tag)}">{escape(tag)}</h2>'
        for method, path, operation in operations:
            yield _operation(method.upper(), path, operation, schemas)


def _operation(method: str, path: str, operation: Mapping[str, Any], schemas: Schemas) -> str:
    parameters = operation.get("parameters", ())
    rows = "".join(map(_parameter, parameters))
    return (
        f"<details><summary><b>{method}</b><code>{escape(path)}</code><span>{_words(operation.get('summary', ''))}"
        f"</span></summary><div>{f'<h3>Parameters</h3><table tabindex=0>{rows}</table>' if rows else ''}"
        f"{''.join(_answers(operation, schemas))}{_form(method, path, operation, schemas)}</div></details>"
    )


def _parameter(parameter: Mapping[str, Any]) -> str:
    needed = ", required" if parameter.get("required") else ""
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{escape(parameter['in'])}{needed}</td>"
        f"<td>{_words(parameter.get('description', ''))}</td></tr>"
    )


def _answers(operation: Mapping[str, Any], schemas: Schemas) -> Iterator[str]:
    for status, answer in operation.get("responses", {}).items():
        for kind, told in answer.get("content", {}).items():
            shape = told.get("schema", {})
            called = "Any error" if status == "default" else f"Answer {escape(status)}"
            yield f"<h3>{called}, {escape(kind)} {_kind(shape)}</h3>"
            if status != "default" and "json" in kind:
                yield f"<pre tabindex=0>{escape(_json(example_of(shape, schemas))[:_MOST_SHOWN])}</pre>"


def _form(method: str, path: str, operation: Mapping[str, Any], schemas: Schemas) -> str:
    """The form that `try.js` sends; nothing for a body that is no JSON."""
    content = operation.get("requestBody", {}).get("content", {})
    if content and "application/json" not in content:
        return ""
    fields = "".join(_field(parameter) for parameter in operation.get("parameters", ()))
    if content:
        shape = content["application/json"].get("schema", {})
        text = escape(_json(example_of(shape, schemas, is_request=True)))
        rows = min(text.count("\n") + 1, 16)
        fields += f'<label>Body {_kind(shape)}<textarea name="body" rows="{rows}">{text}</textarea></label>'
    return (
        f'<form data-method="{method}" data-path="{escape(path)}"><h3>Try it</h3>{fields}'
        "<button>Send</button><pre tabindex=0 hidden></pre></form>"
    )


def _field(parameter: Mapping[str, Any]) -> str:
    name, place = escape(parameter["name"]), escape(parameter["in"])
    needed = " required" if parameter.get("required") else ""
    value = ' value="mira"' if needed and name == "user_id" else ""
    return f'<label>{name} <input name="{name}" data-in="{place}"{value}{needed}></label>'


def _shapes(schemas: Schemas) -> Iterator[str]:
    for name, schema in schemas.items():
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{_words(schema.get("description", ""))}</p>'
        if members := schema.get("properties"):
            yield f"<table tabindex=0>{''.join(_member(key, each, schema) for key, each in members.items())}</table>"
        else:
            yield f"<p>{_kind(schema)}</p>"


def _member(name: str, member: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    needed = ", required" if name in schema.get("required", ()) else ""
    return (
        f"<tr><td><code>{escape(name)}</code></td><td>{_kind(member)}{needed}</td>"
        f"<td>{_words(member.get('description', ''))}</td></tr>"
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a value in words, with links to shapes."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(_kind(choice) for choice in choices)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"<code>{escape(_json(value))}</code>" for value in values)
    if schema.get("type") == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    return escape(str(schema.get("type", "anything")))


def _words(text: str) -> str:
    """A text of the description as HTML, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _anchor(tag: str) -> str:
    return escape(tag.replace(" ", "-"))
