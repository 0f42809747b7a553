"""`/docs`: the OpenAPI description as one plain page, without scripts and without external resources."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Any

import orjson

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font: 600 1rem ui-monospace, monospace; margin: 1.5rem 0 .25rem; }
h3 b { display: inline-block; min-width: 4.5rem; color: #0b5d57; }
p { margin: .25rem 0; }
table { border-collapse: collapse; margin: .5rem 0; }
td { padding: .15rem 1rem .15rem 0; vertical-align: top; }
code, pre { font: .875rem ui-monospace, monospace; }
pre { background: #f4f4f4; padding: .75rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #e6e6e6; }
  h2 { border-color: #444; }
  h3 b { color: #6cc; }
  pre { background: #222; }
}
"""
CONTENT_SECURITY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page(schema: Mapping[str, Any]) -> str:
    """The page for an OpenAPI description."""
    info = schema["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>"
        '<p>For machines: <a href="openapi.json">openapi.json</a></p>'
        f"{''.join(_sections(schema['paths']))}<h2>Bodies</h2>"
        f"{''.join(_schemas(schema.get('components', {}).get('schemas', {})))}</body></html>"
    )


def _sections(paths: Mapping[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, operations in paths.items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(method, path, operation))
    for tag, shown in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>{''.join(shown)}"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = "".join(_parameter(parameter) for parameter in operation.get("parameters", ()))
    table = f"<table>{parameters}</table>" if parameters else ""
    return (
        f"<h3><b>{escape(method.upper())}</b> {escape(path)}</h3>"
        f"<p>{escape(operation.get('summary', ''))}</p>{_body(operation)}{table}"
    )


def _parameter(parameter: Mapping[str, Any]) -> str:
    needed = ", required" if parameter.get("required") else ""
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{escape(parameter['in'])}{needed}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
    )


def _body(operation: Mapping[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f'<p>Body: <a href="#{escape(name)}">{escape(name)}</a></p>' if name else ""


def _schemas(schemas: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in schemas.items():
        shown = orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()
        yield f'<h3 id="{escape(name)}">{escape(name)}</h3><pre>{escape(shown)}</pre>'
