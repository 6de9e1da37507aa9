"""The patterns of clauses: verbs of being, having and changing, and what each is about."""

import re
from typing import Final

BE: Final = r"(?:is|are|was|were|['’]s|will be|has been|have been|had been|became|becomes|has become|remains|remained)"
CHANGED: Final = (
    r"(?:raised|cut|increased|reduced|lowered|changed|set|updated|bumped|moved|pushed|postponed|rescheduled|delayed"
    r"|extended|shortened|brought|switched|migrated|relocated|transitioned|upgraded|downgraded|shifted|corrected|revised"
    r"|adjusted|amended|restated|renamed|doubled|halved|renewed|prolonged|repriced)"
)
# What lasts until then has its end then.
PROLONGED: Final = frozenset({"extended", "renewed", "prolonged", "shortened"})
# Whoever does so uses something else from then on.
SWITCHED: Final = frozenset({"switched", "migrated", "transitioned", "upgraded", "downgraded"})
# Whatever does so has more or fewer of what is counted.
GROWN: Final = frozenset({"grew", "grown", "shrank", "scaled", "expanded"})
WENT: Final = (
    r"(?:rose|risen|fell|fallen|grew|grown|dropped|climbed|went|gone|jumped|sank|shrank|improved|declined"
    rf"|slipped|surged|scaled|expanded|{CHANGED})"
)
TO: Final = r"(?:\s+(?:up|down|back|forward|ahead))?\s+(?:from\s+(?P<old>.+?)\s+)?(?:to|at|until)\s+(?P<object>.+)$"
BY: Final = r"(?:\s+(?:by\s+)?[$€£]?\d[\d.,]*\s?(?:%|percent|[kKMB]\b|million|billion)?)?"
ROLES: Final = (
    r"(?:CEO|CFO|CTO|COO|CIO|CMO|president|chair(?:man|woman|person)?|head|captain|owner|principal|mayor|treasurer|editor"
    r"|coach|prime minister|chancellor|lead|leader|managing director|general manager|chief \w+(?: \w+)? officer"
    r"|governor|spokesperson|chief of staff)"
)
# Of these there may be several, unless somebody is the one.
OFFICES: Final = r"(?:director|secretary|manager|supervisor|minister|goalkeeper|dean|landlord|chief|administrator)"
MEASURED: Final = {
    "long": "length", "wide": "width", "high": "height", "tall": "height", "deep": "depth", "old": "age",
    "thick": "thickness", "heavy": "weight",
}  # fmt: skip
# Verbs that give one attribute a figure: by their forms, the attribute's name and the kinds of figure it takes.
ATTRIBUTE_VERBS: Final = (
    (r"costs?|is priced at|are priced at|was priced at|sells? for|retails? for|goes for", "price", ("money",)),
    (r"weighs?|weighed", "weight", ("mass",)),
    (r"holds?|can hold", "capacity", ("volume", "data", "count people")),
    (r"seats?|sleeps?", "capacity", ("count people",)),
    (r"lasts?|lasted|takes?|took", "duration", ("time",)),
    (r"earns?|makes?", "salary", ("money",)),
    (r"departs?|departed|leaves?|takes? off", "departure", ("date",)),
    (r"arrives?|arrived|lands?", "arrival", ("date",)),
    (r"starts?|started|begins?|began|opens?|opened|kicks? off", "start", ("date",)),
    (r"ends?|ended|finishes|closes?|closed", "end", ("date",)),
    (r"expires?|expired", "expiry", ("date",)),
    (
        rf"(?:{BE} (?:valid|good|effective|in force|in effect)|runs?|lasts?|continues?) (?:until|till|through)",
        "end",
        ("date",),
    ),
    (r"renews?", "renewal", ("date",)),
    (r"ships?|shipped|was shipped|launches|launched|goes live|went live", "date", ("date",)),
)
# Where something is, and the other states of which there is one at a time.
STATES: Final = (
    (r"(?:(?:has |have )?lived|live|lives|living|resides?|resided|stays?|stayed) (?:in|at)", "lives in", "location"),
    (rf"{BE} (?:based|located|headquartered|situated|held|hosted) (?:in|at)", "is located in", "location"),
    (r"(?:takes?|took|will take) place (?:in|at)", "takes place in", "location"),
    (r"(?:work|works|worked|working|has worked|have worked) (?:at|for)", "works at", "employer"),
    (rf"{BE} employed (?:by|at)", "works at", "employer"),
    (r"(?:has |have )?(?:joined|started at|started working (?:at|for)|(?:got|took|accepted) a (?:new )?job (?:at|with)"
     r"|was hired by)", "works at", "new employer"),
    (r"departs? from|leaves? from|will depart from", "departs from", "departure place"),
    (r"plays? for|has played for", "plays for", "team"),
    (rf"stud(?:y|ies) at|{BE} (?:enrolled|studying) at", "studies at", "school"),
    (rf"{BE} (?:re)?assigned to", "is assigned to", "assignee"),
    (rf"{BE} (?:re)?painted", "is painted", "color"),
    (rf"{BE} (?:re)?written in", "is written in", "language"),
    (rf"{BE} (?:rated|ranked|graded)", "is rated", "rating"),
    (r"reports? to|reported to", "reports to", "reports to"),
    (rf"{BE} married to", "is married to", "spouse"),
    (r"belongs? to|belonged to", "belongs to", "belongs to"),
    (rf"{BE} (?:set|capped|limited|fixed|valued|priced|listed|estimated) (?:to|at)", "is", "is"),
    (r"(?:has |have )?(?:closed|opened|ended|settled|finished|traded|trades?) at(?= (?:about |around )?[$€£\d])",
     "is", "is"),
    (r"stands? at|stood at|comes? in at|came in at|totals?|totall?ed|amounts? to|amounted to|equals?|equall?ed|hits?"
     r"|reach(?:es|ed)", "is", "is"),
    (rf"{BE} (?:scheduled|planned|set|booked|arranged|slated|confirmed) (?:for|on|at|by|in)"
     r"|(?:takes? place|falls?|happens?|occurs?) on", "is", "is"),
)  # fmt: skip
# Attributes that a verb can say as well, and the state that the verb tells.
TOLD_AS_STATE: Final = {
    "employer": ("works at", "employer"), "workplace": ("works at", "employer"), "spouse": ("is married to", "spouse"),
    "husband": ("is married to", "spouse"), "wife": ("is married to", "spouse"),
}  # fmt: skip
# Where things are that have one such place: by its name and its number.
NUMBERED: Final = re.compile(
    r"^(?P<subject>.+?)\s+(?:is|are|runs?|listens?|departs?|leaves?|boards?|arrives?|sits?)\s+(?:on|at|from|in)\s+"
    r"(?:the\s+)?"
    r"(?:(?P<name>port|gate|platform|track|terminal|channel|floor|level|row|seat|grade|ward|phase|lane)\s+(?P<number>[\w-]*\d[\w-]*|[A-Z]\d*)"
    r"|(?P<nth>\w+(?:st|nd|rd|th)|first|second|third)\s+(?P<of>floor|level|place|position|grade|gear))"
    r"(?:$|\s*,?\s*\(?(?P<rest>(?:not|instead of|rather than)\b.+)$)",
    re.IGNORECASE,
)
NARROWING: Final = re.compile(
    r"^(?P<bare>.+?)\s+(?P<narrow>(?:against|for|in|during|with|when|if|at|on|from|among|within|under)\s+.+)$"
)
# Where something goes that is in one such place.
MOVED_TO: Final = re.compile(
    r"(?:the )?(?:(?:gate|platform|track|terminal|floor|level)\s+\S+|\w+ (?:floor|level|place))"
)
STREET: Final = re.compile(r"[A-Z0-9][\w. ]*\b(?:Street|St|Road|Rd|Avenue|Ave|Lane|Boulevard|Drive|Square|Way)\.?")
PLACE: Final = re.compile(r"(?:the\s+)?(?:[A-Z]\w*|room|building|floor|suite|hall|stock)\b.*")
