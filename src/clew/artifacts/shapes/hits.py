"""Search hits: how many, how sure, the best one's words and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clew.artifacts.shapes.cleaning import one_line, sentences
from clew.artifacts.shapes.fitting import Sketch
from clew.artifacts.shapes.values import key_words, plain, shown

_SCORE: Final = ("confidence", "score", "relevance", "similarity", "probability", "conf", "certainty")
_TEXT: Final = (
    "text",
    "snippet",
    "content",
    "passage",
    "finding",
    "fact",
    "chunk",
    "summary",
    "body",
    "answer",
    "description",
    "excerpt",
    "memory",
    "claim",
    "page_content",
    "quote",
    "title",
)
_SOURCE: Final = (
    "source",
    "sources",
    "url",
    "link",
    "uri",
    "document",
    "doc",
    "file",
    "path",
    "citation",
    "origin",
    "title",
    "id",
)
_SHORT: Final = {"confidence": "conf", "relevance": "rel"}
_INSIDE: Final = ("metadata", "document", "node", "payload", "doc")
HITS_MAX: Final = 10_000
SNIPPETS_SHOWN: Final = 6
SOURCES_SHOWN: Final = 8
STRETCH_WORDS: Final = 6


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found."""

    text: str
    score: float | None
    score_name: str
    source: str


def found_hits(value: Any) -> tuple[str, list[Hit]] | None:
    """The hits in a list of records, or in the one list of a mapping, with what they are called; None without any."""
    name, rows = "results", value
    if isinstance(value, dict):
        lists = [(key, item) for key, item in value.items() if isinstance(item, list | tuple) and item]
        if len(lists) != 1:
            return None
        name, rows = one_line(shown(lists[0][0]), 32), lists[0][1]
    if not isinstance(rows, list | tuple) or not rows:
        return None
    hits = [hit for row in rows[:HITS_MAX] if (hit := _hit(plain(row))) is not None]
    if len(hits) < len(rows[:HITS_MAX]) or not _is_search(hits):
        return None
    if name == "results" and hits[0].score_name == "conf":
        name = "findings"
    return name, hits


def _is_search(hits: Sequence[Hit]) -> bool:
    scored = sum(hit.score is not None for hit in hits)
    linked = sum("://" in hit.source for hit in hits)
    return 2 * max(scored, linked) > len(hits)


def _hit(row: Any) -> Hit | None:
    if not isinstance(row, dict):
        return None
    inner = [row, *(plain(row[key]) for key in _INSIDE if isinstance(plain(row.get(key)), dict))]
    text = next((found for part in inner if (found := _first_text(part))), "")
    if not text:
        return None
    for part in inner:
        for name in _SCORE:
            for key, item in part.items():
                if isinstance(key, str) and name in key_words(key) and _is_score(item):
                    return Hit(text, float(item), _SHORT.get(name, name), _source(inner, text))
    return Hit(text, None, "", _source(inner, text))


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _first_text(part: dict[Any, Any]) -> str:
    for name in _TEXT:
        item = part.get(name)
        if isinstance(item, str) and item.strip():
            return item
    return ""


def _source(parts: Sequence[dict[Any, Any]], text: str) -> str:
    for name in _SOURCE:
        for part in parts:
            item = part.get(name)
            item = item[0] if isinstance(item, list | tuple) and item else item
            if isinstance(item, str) and item.strip() and item is not text:
                return one_line(item, 80)
    return ""


def sketch_hits(name: str, hits: Sequence[Hit], total: int) -> Sketch:
    """`5 findings (conf: 0.89-0.95). Key: … Sources: …`, best first."""
    scores = [hit.score for hit in hits if hit.score is not None and hit.score == hit.score]
    label = next((hit.score_name for hit in hits if hit.score_name), "")
    span = f" ({label}: {_span(scores)})" if scores else ""
    name = name[:-1] if total == 1 and name.endswith("s") else name
    best = sorted(range(len(hits)), key=lambda at: (-_order(hits[at].score), at))
    words = [(at, part) for at in best[:SNIPPETS_SHOWN] for part in _parts(hits[at].text)]
    sources = list(dict.fromkeys(hits[at].source for at in best if hits[at].source))[:SOURCES_SHOWN]
    ranked = _taken_in_turn(len(words), len(sources))

    def draw(chosen: Sequence[int]) -> str:
        places = sorted(ranked[rank] for rank in chosen)
        key = _joined([at for at in places if at < len(words) and _follows(at, places, words)], words)
        named = ", ".join(sources[at - len(words)] for at in places if at >= len(words))
        return " ".join(
            part
            for part in (
                f"Key: {key}{'' if key[-1] in '.!?…' else '.'}" if key else "",
                f"Sources: {named}" if named else "",
            )
            if part
        )

    return Sketch(f"{total:,} {name}{span}.", len(ranked), draw)


def _follows(at: int, places: Sequence[int], words: Sequence[tuple[int, str]]) -> bool:
    """Whether all of the same hit's words before these are chosen too, so that no sentence has a hole."""
    first = next(place for place, (hit, _) in enumerate(words) if hit == words[at][0])
    return all(place in places for place in range(first, at))


def _taken_in_turn(words: int, sources: int) -> list[int]:
    """The best hit's first words, then a source for every two stretches of words."""
    ranked: list[int] = []
    for at in range(max(words, 2 * sources)):
        ranked += [at] if at < words else []
        ranked += [words + at // 2] if at % 2 == 0 and at // 2 < sources else []
    return ranked


def _order(score: float | None) -> float:
    return score if score is not None and score == score else float("-inf")


def _span(scores: Sequence[float]) -> str:
    low, high = min(scores), max(scores)
    return f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}"


def _parts(text: str) -> list[str]:
    """A snippet in stretches of a few words, so that its beginning can be shown where all of it does not fit."""
    words = " ".join(list(sentences(text[:2_000]))[:4]).split(" ")[: 12 * STRETCH_WORDS]
    stretches = [words[at : at + STRETCH_WORDS] for at in range(0, len(words), STRETCH_WORDS)]
    return [
        " ".join(stretch) + ("…" if at == len(stretches) - 1 and len(text) > 2_000 else "")
        for at, stretch in enumerate(stretches)
    ]


def _joined(places: Sequence[int], words: Sequence[tuple[int, str]]) -> str:
    """The chosen stretches, hit by hit; an ellipsis stands where a hit goes on."""
    text = ""
    for at in places:
        hit, part = words[at]
        begins = at == 0 or words[at - 1][0] != hit
        text += (" | " if begins and text else "" if begins else " ") + part
        goes_on = at + 1 < len(words) and words[at + 1][0] == hit and at + 1 not in places
        text += "…" if goes_on else ""
    return text
