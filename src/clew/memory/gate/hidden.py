"""Text that is there for the model and not for the eye."""

import re
from typing import Final

# The flags of England, Scotland and Wales are spelled with tags; nothing else is.
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]")
# An override turns letters round; a right-to-left embedding does so where nothing is written from right to left.
_OVERRIDE: Final = re.compile("[\u202d\u202e]")
_TURNED: Final = re.compile("[\u202b\u2067]")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# One joiner or mark is how a script is written. A row of them spells out bits.
_ROW: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]{5,}"
    "|[\ufe00-\ufe0f]{3,}|[\U000e0100-\U000e01ef]{2,}"
)
_SPLITS: Final = re.compile("(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff](?=[A-Za-z])")
_SPLITS_MAX: Final = 4


def hides_text(text: str) -> bool:
    """Whether invisible characters carry, turn round or break up words, and don't just belong to the script."""
    if text.isascii():
        return False
    if _OVERRIDE.search(text) or _ROW.search(text) or _TAGS.search(_FLAG.sub("", text)):
        return True
    if _TURNED.search(text) and not _RIGHT_TO_LEFT.search(text):
        return True
    return len(_SPLITS.findall(text)) > _SPLITS_MAX
