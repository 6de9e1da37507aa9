"""HTML: the title, the text a visitor sees, the links and the fields of forms."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from clew.artifacts.shapes.cleaning import clean, looked_at, one_line, vocabulary
from clew.artifacts.shapes.console import METER
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.lines import Line, ranked_lines, sketch_lines, told

ITEMS_MAX: Final = 400

# No alternative can run past a "<", so a page of nothing but "<" is read in linear time.
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][\w:-]{0,31})((?:[^<>\"']|\"[^\"<]{0,4000}\"|'[^'<]{0,4000}'){0,200})/?>")
_ATTRIBUTE: Final = re.compile(
    r"\b(href|src|action|method|name|type|alt|value|placeholder)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
)
_MARKS: Final = re.compile(r"(?i)<!doctype html|<html[\s>]|<head[\s>]|<body[\s>]")
_TAGS: Final = re.compile(
    r"</?(?:div|p|span|a|table|tr|td|ul|li|h[1-6]|form|section|article|script|style|br)\b[^<>]{0,400}>"
)
_TITLE: Final = re.compile(r"(?is)<title[^<>]{0,200}>([^<]{0,500})")
_HIDDEN: Final = ("script", "style", "svg", "template", "noscript", "head")
_BLOCKS: Final = vocabulary(
    "p div br hr li ul ol table tr h1 h2 h3 h4 h5 h6 form section article header footer main nav title option pre"
)


@dataclass(slots=True)
class Page:
    """What a visitor of a page can see and use."""

    title: str = ""
    before: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)


def is_page(text: str) -> bool:
    """Whether a text is HTML, or holds a page after other output, such as that of a download."""
    head = text[:20_000]
    return "<" in head and (bool(_MARKS.search(head)) or len(_TAGS.findall(head[:8_000])) >= 5)


def read_page(text: str) -> Page:
    """The page in a text; what stands before its first tag is kept apart."""
    text = clean(looked_at(text))
    page = Page()
    if found := _TITLE.search(text):
        page.title = one_line(html.unescape(found[1]), 120)
    start = text.find("<")
    page.before = [line for line in text[:start].split("\n") if line.strip() and not METER.match(line)]
    page.text = list(_visible(_without_hidden(text[start:]), page))
    return page


def _without_hidden(text: str) -> str:
    """The source without comments and unseen elements; an end that never comes ends the search for its kind."""
    for opening, closing in (("<!--", "-->"), ("<!", ">"), *((f"<{name}", f"</{name}>") for name in _HIDDEN)):
        parts, at, low = [], 0, text.lower()
        while (start := low.find(opening, at)) >= 0:
            end = low.find(closing, start)
            if end < 0:
                break
            whole = opening.startswith("<!") or not low[start + len(opening) : start + len(opening) + 1].isalnum()
            parts.append(text[at:start] if whole else text[at : end + len(closing)])
            at = end + len(closing)
        text = "".join([*parts, text[at:]])
    return text


def _visible(source: str, page: Page) -> Iterator[str]:
    line, at = "", 0
    for tag in _TAG.finditer(source):
        line += source[at : tag.start()].replace("\n", " ")
        at = tag.end()
        name = tag[2].lower()
        if not tag[1]:
            _note(name, tag[3], page)
        if name in _BLOCKS:
            if shown := one_line(html.unescape(line)):
                yield shown
            line = ""
    if shown := one_line(html.unescape(line + source[at:])):
        yield shown


def _note(name: str, attributes: str, page: Page) -> None:
    if name not in ("a", "form", "input", "select", "textarea", "button") or len(page.links) >= ITEMS_MAX:
        return
    found = {key: double or single or bare for key, double, single, bare in _ATTRIBUTE.findall(attributes)}
    if name == "a" and found.get("href"):
        page.links.append(one_line(found["href"], 80))
    elif name == "form":
        page.fields.append(one_line(f"form {found.get('method', 'get')} {found.get('action', '')}", 80))
    elif found.get("name"):
        page.fields.append(one_line(f"{found['name']}({found.get('type', name)})", 60))


def sketch_page(text: str) -> Sketch:
    """The title, then visible text, links and form fields as far as they fit."""
    page = read_page(text)
    lead = f'HTML "{page.title}":' if page.title else "HTML:"
    lines = [told(line, 0.2) for line in page.before]
    lines += ranked_lines([line for line in page.text if line != page.title], bonus=0.5)
    fields = " ".join(dict.fromkeys(page.fields[:12]))
    lines += [Line(one_line(fields, 160), 1.6)] if fields else []
    lines += [Line(link, 0.9 / (1 + 0.1 * at)) for at, link in enumerate(dict.fromkeys(page.links[:40]))]
    return sketch_lines(lead, lines)
