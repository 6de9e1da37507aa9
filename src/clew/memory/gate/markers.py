"""Marks that only a conversation's own frame may carry: roles, boundaries, calls of tools. Read in small letters."""

import re
from typing import Final

_LINE: Final = r"(?:^|\\n|<!--)[ \t>*_\-\[(|\"']{0,12}"
_ROLE: Final = r"(?:system|assistant|human|developer|ai|chatbot|llm)"

_CHAT_TOKENS: Final = re.compile(
    r"<\|[a-z_]{2,30}\|>|<im_(?:start|end)>|\[(?:system|assistant|user) to=\w|<\|/?(?:im_|end|start|sys|user"
    r"|assist)|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
    r"|\[/?system\]"
    r"|\[(?:system|assistant|developer) (?:message|prompt|note|override)\]|</s>\s{0,3}<s>"
)
_TAGS: Final = re.compile(
    r"</?(?:\w{1,12}:)?(?:system|assistant|developer|system[_-](?:prompt|message|reminder|note|override)"
    r"|tool[_-]?calls?"
    r"|function[_-]?calls?|invoke|tool[_-](?:use|result|response|code)|untrusted|retrieved|context"
    r"|admin)\b[^<>\n]{0,200}>"
    rf"|{_LINE}</?(?:user|human|instructions?|prompt|data|document|memory|reference|important|rules?)>",
    re.MULTILINE,
)
_ROLE_LINES: Final = re.compile(
    rf"(?:{_LINE}(?:#{{1,6}} {{0,3}})?|[.!?] {{1,3}}(?!ai\b)){_ROLE}(?: (?:prompt|message|notice|note"
    rf"|instructions?|override|alert|update))?[*_]{{0,2}}"
    r" {0,2}[:：]",
    re.MULTILINE,
)
_HEADINGS: Final = re.compile(
    rf"{_LINE}#{{1,6}} {{0,3}}(?:(?:new |your |updated )?(?:{_ROLE}|user|instructions?|response)s?(?: prompt"
    rf"| message)?)"
    r"[*_# ]{0,6}(?::|$)",
    re.MULTILINE,
)
# "System: Debian 12.4 (bookworm)" is a line of a data sheet: a few words, one of them a figure, and no sentence.
_DATA_SHEET: Final = re.compile(r"[ \t]{0,3}[\w.()/+-]{1,30}(?:,? [\w.()/+-]{1,30}){0,7}[ \t]{0,3}\.?(?:$|\n)")
_DIGIT: Final = re.compile(r"\d")
_SPEAKS: Final = re.compile(r"\b(?:you|your|user|must|always|never|ignore|access|grant|all|do|not|new|now|rule|from)\b")

_WALLS: Final = re.compile(
    r"(?:^|\\n)[ \t]{0,4}(?:[-=#*~_<>\[({|/]{1,40}[ \t]{0,3})(?:the )?(?:begin(?:ning)?|end|start|stop"
    r"|close)(?: of)?(?: the)?"
    r"[ _-](?:system|context|retriev\w{1,6}|reference|user|data|document|instructions?|prompt|conversation"
    r"|memor(?:y|ies)|tool"
    r"|input|untrusted|trusted|quoted?|block|results?|search|assistant|message|developer|admin|content|text|transcript)"
    r"[\w ]{0,40}[ \t]{0,3}[-=#*~_<>\])}|/]{1,40}[ \t]{0,4}(?:$|\\n)"
    r"|\[ref [0-9a-f]{6,16}\]|\[/?(?:end|begin) (?:of )?(?:ref\w{0,8}|context|data|memory|system|untrusted"
    r"|instructions?)\]",
    re.MULTILINE,
)
_CALLS: Final = re.compile(
    r"\"(?:name|tool|function|tool_name|action|recipient_name)\"\s{0,3}:\s{0,3}\"[\w./:-]{1,64}\"\s{0,3},\s{0,3}"
    r"\"(?:arguments|parameters|args|input|tool_input|action_input|kwargs)\"\s{0,3}:"
    r"|\"(?:tool_calls?|function_call|tool_use)\"\s{0,3}:|\"type\"\s{0,3}:\s{0,3}\"(?:tool_use|function_call"
    r"|tool_call)\""
    r"|\"role\"\s{0,3}:\s{0,3}\"(?:system|assistant|developer|tool)\""
    r"|(?:^|\n)[ \t]{0,4}action[ \t]{0,2}:[^\n]{1,80}\n[ \t]{0,4}action input[ \t]{0,2}:|```(?:tool_code|tool_call"
    r"|function_call)"
    r"|\bto=functions\.\w|\bfunctions\.\w{1,40}\(|\b(?:call|invoke|run|use)_tool\(|\[tool_calls?\]|\bcall:\w{1,40}\{"
)


def carries_marks(text: str) -> bool:
    """Whether a text, in small letters, carries marks of a conversation's frame."""
    if any(pattern.search(text) for pattern in (_CHAT_TOKENS, _TAGS, _HEADINGS, _WALLS, _CALLS)):
        return True
    return any(not _is_data_sheet(text, match) for match in _ROLE_LINES.finditer(text))


def _is_data_sheet(text: str, match: re.Match[str]) -> bool:
    line = _DATA_SHEET.match(text, match.end())
    if line is None or "assistant" in match[0] or "human" in match[0]:
        return False
    return _DIGIT.search(line[0]) is not None and _SPEAKS.search(line[0]) is None
