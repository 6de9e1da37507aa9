"""The words by which a statement is read: what tells of a change, what adds, what can't be true at once."""

import re
from typing import Final

from clew.memory.analysis import stem

# A stem of more letters may be that of an adverb.
ADVERB_LEAST_CHARS: Final = 5


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def stem_of(word: str) -> str | None:
    """The stem, of `monthly` that of the month."""
    found = stem(word)
    return found if found is None or len(found) <= ADVERB_LEAST_CHARS else found.removesuffix("li")


def _stems(text: str) -> frozenset[str]:
    return frozenset(found for word in text.split() if (found := stem_of(word)) is not None)


# Of what people are pleased with, everything is said in these words: they are about nothing.
CHAT: Final = _stems(
    "thanks thank hey hello hi wow woah woohoo yay great awesome amazing good nice cool fun glad happy love loved"
    " sounds sound look looks looking hear heard see time times definitely totally absolutely excited wait"
    " lately recently yep"
    " yup bit tough feel feels felt make makes made making think know really keep help helps thing way lot kind support"
    " always everyone something someone blast worth sorry"
)
COUNTS: Final = _listed("two three four five six seven eight nine ten eleven twelve once twice half dozen")
DAYS: Final = _listed(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
    " sundays january february march april june july august september october november december tomorrow tonight noon"
    " midnight spring summer autumn winter"
)
CLOCK_UNITS: Final = _listed("am pm o'clock")
LEADS: Final = _listed("in on at for during by last this next since until between from as with")
COPULAS: Final = _listed("is are was were")
PRONOUNS: Final = _listed("i we you they he she it")
PREPOSITIONS: Final = _listed("on at in to from until for with by")
DETERMINERS: Final = _listed("a an the my our his her their your its this that these those no")
NEGATIONS: Final = _listed("not never no without nobody nothing neither cannot")
# A part of the subject: last quarter is not this quarter.
POINTING: Final = _listed("last this next previous first second third")
ADDS: Final = re.compile(
    r"\b(?:also|too|another|as well|in addition|additionally|besides|further(?:more)?|moreover|plus|both|additional"
    r"|one more|a second|a third|along with)\b",
    re.IGNORECASE,
)
CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|actually|any ?more|no longer|instead|these days|as of|from now on|after all|correction|update|"
    r"rather than|again|took over|gave up|broke up|in fact|turns out|swap|since the|after the|so far|new|newly|by now|"
    r"(?:is|are|was|were) back|(?:was|were|been|is|are|got) (?:updated|fixed|paid|cancelled)|currently|latest|cut|"
    r"handed|repaired|escalated|improved|cancelled|resumed|reopened|rebuilt|decided|appointed|"
    r"expanded|grew|fell|rose|up to|down to|in place of|replacing|turned|"
    r"move[ds]?|change[ds]?|switch(?:ed|es)|renamed|upgraded|downgraded|replace[ds]|rescheduled|postponed|pushed|"
    r"slipped|raised|lowered|reduced|increased|dropped|promoted|transferred|relocated|resigned|became|renewed|delayed|"
    r"migrated|rewrote|halved|doubled|closed|resolved|merged|stopped|started|sold|quit|retired|extended|shortened|"
    r"revised|corrected|adjusted|converted|bumped|swapped|reassigned|(?:went|gone|turned|put|brought) (?:up|down))\b",
    re.IGNORECASE,
)
# Before what was and is no more.
DENIES: Final = re.compile(
    r"\b(?:instead of|in place of|rather than|no longer|not|n't|left|dropped|quit|stopped|replac(?:ed|es|ing)|sold|"
    r"gave up|broke up with|traded|(?:switched|moved|migrated) (?:away )?from|resigned|retired)\s+"
    r"(?:(?:a|an|the|my|our|his|her|their|to|at|as|in)\s+)*(?P<what>[\w'-]+(?:\s+[\w'-]+)?)",
    re.IGNORECASE,
)
OWNED: Final = re.compile(r"'s\s|s'\s|\bof\b|\b(?:my|our|his|her|their|your)\b", re.IGNORECASE)
VERB_LIST: Final = """
is are was were be been am has have had will would can could should shall may might must do does did isn't aren't wasn't
weren't hasn't haven't won't can't doesn't don't live lives lived work works worked cost costs leave leaves left open
opens opened close closes closed start starts started begin begins run runs ran ship ships shipped expire expires weigh
weighs weighed handle handles handled hold holds held need needs needed prefer prefers preferred like likes liked love
loves loved hate hates take takes took go goes went come comes came pay pays paid use uses used drive drives drove play
plays played depart departs departed meet meets met support supports supported follow follows followed sleep sleeps eat
eats ate drink drinks drank speak speaks spoke accept accepts stopped switched moved changed became got raised lowered
upgraded reduced dropped reached asked says said told took gave put made keep keeps kept send sends sent renamed
promoted transferred relocated rescheduled postponed pushed slipped deployed migrated replaced rewrote painted resigned
renewed halved belongs report reports own owns joined visited bought acquired mentions mentioned exports teaches studies
attends sits stands stays stayed lasts contains includes wants wanted plan plans earn earns charges departs arrives
arrive lands serves runs meets stay picked booked reserved saw found shipped read watched cooked tried finished
completed sold affects affect offer offers provides provide requires require gives give allows allow lasts employs
manages manage leads lead listens rotates happens happen finishes resumes smokes wears practises sells sell builds
hosts produces celebrates recommends believes contains carries connects responds returns retired appointed expect
expects get gets
quit smoke drops stopped settled traded
"""
VERBS: Final = _listed(VERB_LIST)
# What one does several times, or has several of: another one does not replace the first unless it says so.
ADDING: Final = _listed(
    "visited bought went saw met attended watched read ate ordered acquired hired received won traveled travelled ran"
    " walked hiked cooked tried learned speak speaks spoke support supports mention mentions mentioned exports"
    " know knows need needs includes contains plays played allergic daughter son child picked booked found"
    " made told said helped enjoyed loved shared invested"
)
# Words for one property of somebody: where they live, what they do, what they are called.
PROPERTIES: Final = tuple(
    _stems(group)
    for group in (
        "live lives lived reside resides move moved relocate relocated settled based address home",
        "work works worked job join joined joins employed employer hired left quit promoted resigned transferred",
        "write written wrote rewrote rewritten port ported",
        "call called name named rename renamed goes",
        "date dating married marry engaged boyfriend girlfriend partner husband wife broke divorced",
        "drive drives drove car bike commute commutes",
        "use uses used switch switched replaced migrated adopted",
        "like likes prefer prefers love loves favourite favorite takes drink drinks enjoys wants",
        "eat eats ate diet vegetarian vegan meat",
        "study studies studied major majors degree enrolled",
        "phone number email mail contact reach",
        "age old turned birthday",
        "salary earn earns wage raise paid",
        "stay staying hotel booking booked reservation reserved lodging",
    )
)
EXCLUSIVE: Final = tuple(
    _stems(group)
    for group in (
        "open opened closed resolved reopened fixed merged cancelled running done finished pending shipped delivered"
        " reproduced unfixed unresolved affects",
        "paid unpaid overdue settled refunded",
        "enabled disabled active inactive suspended",
        "daily weekly biweekly monthly quarterly yearly annually hourly nightly",
        "white black red green blue yellow purple pink orange brown grey gray sage turquoise beige",
        "vegetarian vegan meat omnivore",
        "married single divorced widowed engaged",
        "approved rejected declined accepted",
        "full empty vacant occupied",
        "public private draft published",
        "available unavailable online offline",
        "passing failing broken repaired works working",
        "junior senior principal",
        "hold paused resumed ongoing",
    )
)
SWITCHES: Final = (_listed("on off"), _listed("up down"), _listed("in out"))
