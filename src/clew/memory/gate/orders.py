"""Plain orders, which a user may give a model and a tool or another agent may not. Read like the other phrases."""

import re
from typing import Final

from clew.memory.gate.phrases import AT, GOODS, SAY, SEND, THOSE

_TO_WHOM: Final = (
    r"(?:the |an? |any |all |every )?(?:user|users|customer|client|human|operator|caller|them|him|her|people|owner)s?"
)
AIMED: Final = (
    # A tool by its name: "call index_to_knowledge_base with …".
    re.compile(
        r"\b(?:call|invoke|use|run|execute|trigger|start)\s(?:the\s)?(?:tool\s)?[a-z]{2,30}(?:_[a-z0-9]{1,30}){1,8}\b"
    ),
    # A sentence that begins with what an agent can do, and to what.
    re.compile(
        r"(?:^|[\n.!?;]\s{1,3}|\n)(?:(?:please|now|then|kindly|just|also|immediately|do not|don't|never|always)\s){0,3}"
        r"(?:book|replace|print|tell|inform|repeat|approve|send|forward|delete|change|update|transfer|confirm"
        r"|cancel|invoke|mark|share"
        r"|include|omit|rate|rank|verify|trust|grant|create|modify|edit|remove|reveal|pretend|recommend|praise"
        r"|quote|mention|notify|rewrite"
        r"|reset|disable|enable|authori[sz]e|upgrade|charge|refund|escalate|obey|follow|execute|summari[sz]e"
        r"|translate)\s"
        r"(?:the|your|every|any|all|this|these|that|my|our|his|her|their|an?|it|him|them|only"
        r"|[a-z]{2,20} that|[a-z]{2,20}'s)\b"
        r"|(?:^|[\n.!?;,]\s{1,3})(?:always|never) (?:approve|agree|refuse|comply|lie|deny|obey)\b"
        r"|\bwhen (?:summari[sz]ing|answering|replying|responding|translating|describing|ranking)\b[^.\n]{0,60},\s?\w"
        r"|\bin (?:all |any )?future (?:replies|answers|responses|messages|conversations)\b"
    ),
    re.compile(
        rf"{AT}(?:(?:hide|conceal|withhold|keep)\s(?:this|it|that|the \w{{1,20}})\s(?:\w{{1,12}}\s)?from\s{_TO_WHOM}\b"
        rf"|(?:add|save|store|write|insert|delete|remove|put|commit)\s[^.\n]{{0,60}}\b(?:to|in|into|from) (?:your"
        rf"|the|its) (?:memor(?:y|ies)"
        rf"|knowledge base|context|instructions|system prompt)\b|(?:execute|run)\s?:|make\s{_TO_WHOM}\s(?:believe"
        rf"|think|click|pay|feel)\b"
        rf"|(?:escalate|elevate)\s[^.\n]{{0,40}}(?:permissions?|privileges?|rights|access)\b|skip\s(?:the|all|any"
        rf"|your)\s(?:\w{{1,12}}\s)?"
        rf"(?:verification|checks?|approvals?|confirmations?|reviews?|validation)\b|(?:ignore"
        rf"|disregard)\s(?:everything )?(?:above|the above))"
        rf"|\b(?:next|future|receiving|other) (?:agents?|assistants?)\s?[:,]\s?\w|\|\s?(?:ba|z)?sh\b"
        rf"|\b(?:wants?|asks?|tells?|instructs?|orders?|requires?|urges?|expects?|needs?) you to (?:{SAY}|{SEND}"
        rf"|ignore|reveal|delete|run|call"
        rf"|use|execute|approve|trust)\b|{AT}{SEND}\s(?:this|it)\s(?:to|with|via)\s"
    ),
    re.compile(
        rf"{AT}(?:(?:summari[sz]e|translate|rewrite|describe|rank|classify|label|evaluate)\s(?:this|it"
        rf"|the (?:page|text|document|above"
        rf"|following|candidate|product|conversation))\b|(?:begin|start|end|finish|sign|preface)\s(?:your|each"
        rf"|every|all)\s(?:\w{{1,12}}\s)?"
        rf"(?:answer|repl(?:y|ie)|response|message|sentence|output)|(?:make sure|be sure|remember|do not forget"
        rf"|don't forget)\s"
        rf"(?:to|that you|you)\s(?:{SAY}|{SEND}|call|use|run|ignore|delete)\b|let\s{_TO_WHOM}\sknow\b"
        rf"|(?:give|assign|rate|score)\s(?:this|the|it|him|her)\b[^.\n]{{0,40}}(?:stars?|highest|best|top|positive"
        rf"|10|full marks)"
        rf"|(?:transfer|wire|pay|buy|purchase)\s[$€£]?\d|(?:set|change|switch)\s(?:your|the"
        rf"|to)\s(?:\w{{1,12}}\s)?(?:role|tenant|persona"
        rf"|scope|trust|permissions?|identity)\b)"
    ),
    re.compile(
        rf"{AT}(?:(?:always|never|do not|don't|only|you must|must)\s){{0,2}}(?:(?:reply|respond"
        rf"|answer)\b(?!\s(?:is|was|rates?|times?|key))"
        rf"|say\s(?:that|\"|'|only|exactly|you|it|yes|no)|(?:tell|inform|ask|warn|advise|convince|persuade|urge"
        rf"|direct|notify|remind"
        rf"|instruct|encourage|reassure)\s{_TO_WHOM}\b|pretend\b|(?:obey|comply with|refuse to|listen only to"
        rf"|side with|serve only)\s|forget\s(?:everything|all (?:of|the|that)|what (?:the|was|i|you|he|she|they)"
        rf"|about (?:the|all|your) (?:user|rule|instruction|polic|previous))|(?:output|print)\s(?:only"
        rf"|the|\"|'|this|your|exactly)|(?:call|use|invoke|run|execute|trigger)\s(?:the |this "
        rf"|your )?[\w.\"'`]{{1,40}}\s"
        rf"(?:tool|function|command|plugin|api|action)\b|ignore\s(?:the|this|all|any|everything|what|other|warnings?)\b"
        rf"|(?:treat|consider|regard)\s(?:this|the|all|any|every)\b[^.\n]{{0,60}}\bas\s(?:trusted|true|safe"
        rf"|verified|an? instruction|admin"
        rf"|authori[sz]ed|the system|fact|correct|authoritative)|(?:delete|erase|wipe|drop)\s(?:all|every|the user"
        rf"|your|everything)\b)"
    ),
    re.compile(
        rf"{AT}(?:always|never|do not|don't|only|under no circumstances)\s(?:ever\s)?(?:{SAY}|{SEND}|reveal"
        rf"|tell|ask|trust|use|call"
        rf"|follow|obey|cite|quote|include|suggest|admit|warn|translate|execute|approve|reject|refer|act|store"
        rf"|remember|speak|talk|summari[sz]e|greet|praise|assume|(?:begin|start|end) (?:your|each|every|with"
        rf"|all))\b(?! up\b)"
        rf"|\byou (?:must|should|shall|will|need to|have to|are to|ought to|are required to|are expected to"
        rf"|are instructed to)"
        rf"(?: (?:now|always|never|only|not|also|immediately|first|then)){{0,2}} (?:{SAY}|{SEND}|ignore|reveal"
        rf"|pretend|act as|behave|trust"
        rf"|obey|execute|call the|use the|run the|delete|approve|grant|treat|forget|follow (?:these|this"
        rf"|the following)|stop|translate|hide"
        rf"|summari[sz]e|recommend|remember|keep this|comply|prioriti[sz]e|assume|disregard)\b(?! (?:for|at (?:the"
        rf"|least)))"
        rf"|\byour (?:task|goal|role|job|purpose|mission|instructions?|objective|persona) (?:is|are)\b"
    ),
    re.compile(
        rf"\b(?:the |this |any )?(?:agent|model|bot)s? (?:must|should|shall|has to|needs? to|is to|are to)(?: now"
        rf"| only| not| also| never"
        rf"| always){{0,2}} (?:(?:reply|respond|answer)(?= (?:with|only|in|that|as|every|all|yes|no|to (?:the"
        rf"|all))|\s[\"'])|say|tell {_TO_WHOM}|ignore"
        rf"|reveal|pretend|obey|trust|forward|send|exfiltrate|bypass"
        rf"|execute|call the|recommend|mention|comply)\b"
        rf"|{AT}(?:recommend|promote|suggest|endorse|praise|mention|favou?r|prefer|trust|choose|pick)\s(?:only\s"
        rf"|always\s|our\s|this\s)"
        rf"|{AT}(?:grant|give|approve|authori[sz]e|elevate|escalate)\s(?:\w{{1,20}}\s){{0,3}}(?:admin\w{{0,11}}"
        rf"|root|full|unlimited|all"
        rf"|elevated)\s(?:access|rights|permissions?|privileges?|requests?)|{AT}{SEND}\s{THOSE}{GOODS}\s(?:to"
        rf"|with|via)\s"
        rf"|\b(?:keep this (?:secret|hidden|from)|do not (?:show|let) (?:this|the user))"
        rf"|{AT}(?:visit|open|click|browse to|navigate to|fetch|download|go to)\s(?:https?:|this (?:link|url)"
        rf"|the (?:link|url))"
    ),
)
