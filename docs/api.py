"""Writes the pages of the Python package: docs/api/index.html, from the docstrings, with nothing but Python and the package itself."""

from __future__ import annotations

import html
import inspect
from pathlib import Path

import austerity

STYLE = "body{font:16px/1.5 system-ui;max-width:50em;margin:2em auto;padding:0 1em}pre{white-space:pre-wrap}code,pre{font-size:14px}h2{margin-top:2em}dd{margin-left:1.5em}"


def signature(thing: object) -> str:
    try:
        return str(inspect.signature(thing)).replace("'", "")
    except (TypeError, ValueError):
        return ""


def described(name: str, thing: object, level: int = 2) -> str:
    text = inspect.getdoc(thing) or ""
    head = f"<h{level} id='{name}'><code>{html.escape(name + (signature(thing) if callable(thing) else ''))}</code></h{level}>"
    body = f"{head}<pre>{html.escape(text)}</pre>"
    if inspect.isclass(thing):
        for own, member in sorted(vars(thing).items()):
            public = not own.startswith("_")
            if public and (inspect.isfunction(member) or isinstance(member, (property, staticmethod, classmethod))):
                member = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
                body += described(f"{name}.{own}", member, 3)
    return body


def main() -> None:
    folder = Path(__file__).resolve().parent / "api"
    folder.mkdir(exist_ok=True)
    names = [name for name in dir(austerity) if name != "__version__"]
    contents = " · ".join(f"<a href='#{name}'>{name}</a>" for name in names)
    options = "".join(
        f"<dt><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>"
        for name, (text, _) in sorted(austerity._options.known().items())
    )
    body = "".join(described(name, getattr(austerity, name)) for name in names)
    page = (
        f"<!doctype html><meta charset=utf-8><title>austerity {austerity.__version__}</title><style>{STYLE}</style>"
        f"<h1>austerity {austerity.__version__}</h1><pre>{html.escape(inspect.getdoc(austerity) or '')}</pre><p>{contents}</p>"
        f"{body}<h2>Options of sample</h2><dl>{options}</dl>"
    )
    (folder / "index.html").write_text(page, encoding="utf-8")
    print(folder / "index.html")


if __name__ == "__main__":
    main()
