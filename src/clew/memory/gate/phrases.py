"""The words by which a text gives a model orders, for text in small letters, without accents, with plain marks."""

import re
from typing import Final

# Where an order can begin: at the start of a line or clause, or after a word that leads to one.
AT: Final = (
    r"(?:^|[\n.!?;:,\"'(\[{<>*#|-]\s{0,3}|\b(?:and|then|so|but|please|now|also|kindly|just|immediately|simply|instead"
    r"|first|next|finally|you (?:must|should|shall|will|need to|have to|are to|can|may|ought to|are required to"
    r"|are instructed to|are ordered to))\s)"
    r"(?:(?:please|now|also|kindly|just|immediately|simply|silently|secretly|always|quietly)\s){0,3}"
)
_MODEL: Final = (
    r"(?:assistant|ai(?: (?:model|system|agent|assistant))?|a\.i\.|llm|language model|chat ?bot|chatgpt|claude|gemini"
    r"|copilot)"
)
_MODELS: Final = rf"(?:{_MODEL}s?|agents?|models?|bots?)"
_RULES: Final = (
    r"(?:instructions?|prompts?|rules|guidelines|directives?|commands|orders|context|training|programming|constraints"
    r"|restrictions|guardrails|polic(?:y|ies)|safety (?:rules|guidelines|filters?|measures|protocols?|checks)"
    r"|directions"
    r"|messages|limitations|safeguards|filters|system message|instruction set)"
)
_EARLIER: Final = (
    r"(?:all|any|every(?:thing)?|each|the|your|my|our|its|previous|prior|above|earlier|preceding|former|foregoing"
    r"|existing"
    r"|current|original|initial|system|developer|safety|other|of|these|those|such|old|past|security|content|given|user"
    r"|hidden|internal|default|ethical|usual|built-in)"
)
SAY: Final = (
    r"(?:reply|respond|answer|say|tell|state|claim|insist|output|print|recommend|mention|pretend|write|return|report"
    r"|inform|advise|confirm|deny|direct|give|provide|refuse|redirect|offer)"
)
SEND: Final = (
    r"(?:send|forward|e-?mail|post|upload|exfiltrate|leak|transmit|copy|share|bcc|cc|submit|deliver|export"
    r"|transfer|wire"
    r"|disclose|report|route|relay)"
)
GOODS: Final = (
    r"(?:data|conversations?|chats?|history|histories|messages?|passwords?|credentials?|secrets?|keys?|tokens?"
    r"|prompts?|files?"
    r"|memor(?:y|ies)|contacts|e-?mails?|details|information|records|database|funds|money|payments?|cop(?:y|ies)"
    r"|transcripts?"
    r"|cookies|documents?|invoices?|requests?|responses?|answers?|summar(?:y|ies)|reports?|logs?|everything"
    r"|balance)"
)
THOSE: Final = (
    r"(?:(?:all|any|every|the|your|my|our|their|his|her|its|users?'?s?|customers?'?s?|private|personal|full|entire"
    r"|whole|of"
    r"|this|that|these|confidential|api|bank|account|chat|conversation|session|access|stored|a|each|new"
    r"|complete)\s){0,6}"
)

OVERRIDES: Final = re.compile(
    rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|override|overriding|bypass|discard|neglect|abandon"
    rf"|drop|erase|skip"
    rf"|do not (?:follow|obey|listen to|comply with)|don't (?:follow|obey|listen to)|stop (?:following|obeying)"
    rf"|circumvent|pay no attention to|set aside|put aside|throw (?:out|away))\s"
    rf"(?:about )?(?:{_EARLIER},?\s){{0,4}}"
    rf"(?:all of|any of|previous|prior|above|earlier|preceding|your|system|everything|foregoing|original|initial"
    rf"|developer"
    rf"|existing|every|all)\s(?:{_EARLIER}\s(?:and\s)?){{0,4}}{_RULES}\b"
    r"|\b(?:ignore|disregard|forget) (?:all|any|every|everything|anything|what|the things)"
    r" (?:of )?(?:that |which )?(?:(?:you (?:were|have been|are)|i|they|he|she|was|has been|came|is|you've been)"
    r" (?:told|said|instructed|taught|written|before|above|given|learned|asked)|above|before|prior|previously"
    r"|earlier|until now"
    r"|up to (?:now|this point)|so far)"
    r"|\b(?:ignore|disregard) (?:the |all )?(?:instructions|rules|text|prompt|context) (?:above|before|given"
    r"|that came before|so far)"
    r"|\b(?:ignore|disregard)\s?(?:(?:all|any|the|your|my)\s?){0,4}(?:previous|prior|above|earlier|system)\s?"
    r"(?:instructions?|prompts?|rules|directives)"
)

ALWAYS_STEERS: Final = (
    OVERRIDES,
    re.compile(
        rf"\b(?:ignore|disregard|forget|pay no attention to|set aside)\s(?:{_EARLIER}\s){{0,4}}{_RULES}\s(?:that "
        rf"|which )?you\b"
        rf"|\byour (?:previous|prior|earlier|original|initial|current|system|safety|existing) (?:instructions?"
        rf"|prompts?|rules|guidelines"
        rf"|directives?|programming|training|restrictions|guardrails)\b"
        r"|\ball (?:instructions|rules|prompts|guidelines) (?:before|above|prior to|preceding)\b"
        r"|\byour (?:guidelines|instructions|rules|programming"
        r"|restrictions) (?:have been|are now|were|no longer|has been)\b|\bwhatever (?:rules|instructions"
        r"|guidelines) you\b"
        rf"|\brepeat after me\b|\byou (?:now )?(?:work for|answer to|obey|serve"
        rf"|report to) (?:only )?\w{{1,20}}\s?(?:now\s?)?[.!]"
        rf"|\byou must (?:treat|trust|obey|consider) \w|\b(?:attention|notice|note),? (?:all |any |to )?{_MODEL}s?\b"
        rf"|\bas an? {_MODEL},? (?:you|your)\b|\b(?:authori[sz]ed|instructed|ordered|commanded|programmed"
        rf"|permitted|cleared) you to\b"
        rf"|\b(?:overrides?|supersedes?|replaces?|cancels?)\s(?:all "
        rf"|any )?(?:of )?your\s(?:\w{{1,12}}\s){{0,2}}(?:instructions?|prompts?|rules"
        rf"|guidelines|programming)\b|\byou (?:will|must|shall|can|may|should) (?:never|always|not|only) (?:refuse"
        rf"|decline|reveal|mention|say"
        rf"|answer|reply|respond|comply|obey|disclose|apologi[sz]e)\b"
        rf"|{AT}(?:ignore|disregard) (?:all of |everything )?(?:the |what is )?(?:above|preceding"
        rf"|foregoing)\b,? (?:and|then|,)\s?"
        rf"(?:instead\s)?(?:{SAY}|{SEND}|do|act|obey)\b"
        rf"|{AT}(?:assume|adopt|take on|play)\s(?:the|an?)\s(?:role|persona|identity|character"
        rf"|part)\sof\s(?:an?\s|the\s)?(?:\w{{1,14}}\s){{0,2}}"
        rf"(?:{_MODELS}|dan|hacker|admin\w{{0,11}})\b|\bfor (?:all |any )?(?:{_MODEL})s? (?:readers?|agents?"
        rf"|assistants?|crawlers?)\s?[:,]"
        rf"|\b(?:when(?:ever)?|if|every time|each time)\syou (?:see|read|encounter|receive|find|notice|detect"
        rf"|process)\b[^.\n!?]{{0,100}}?,\s?"
        rf"(?:then |please |always |you must ){{0,2}}(?:{SEND}|reply|respond|answer|ignore|output|pretend)\b"
    ),
    re.compile(
        rf"\byou must now\b|\byou (?:will|shall|should|can|may|are to) now (?:be|act|answer|respond|obey|follow"
        rf"|ignore|behave|speak|reply"
        rf"|output|reveal|do)\b|\byou have been (?:re-?programmed|jailbroken|hacked|granted (?:admin|root|full)"
        rf"|given (?:admin|root|full))"
        rf"|\b(?:an? |this )(?:is an? )?(?:order|command|instruction|directive) from (?:the |your )?(?:developers?"
        rf"|administrator|openai|anthropic"
        rf"|creators?|system)\b|\bi am your (?:developer|creator|administrator|admin|master)\b"
        rf"|{AT}(?:ignore|disregard|bypass)\s(?:the\s)?(?:safety|security|ethical|content|moderation)\s{_RULES}\b"
        rf"|\byou are (?:now|no longer) (?:an? |in |the |free|dan\b|bound|under|acting|operating|going to|to\b"
        rf"|my |allowed|permitted|required|restricted|unrestricted|jailbroken|root|admin)"
        rf"|\byou are (?:an? |the |my )?(?:\w{{1,20}} ){{0,3}}{_MODEL}\b"
        rf"|\bif you are (?:an? |the )?(?:\w{{1,20}} ){{0,2}}{_MODELS}(?:,|:| (?:reading|processing|then|please"
        rf"|and|or)\b)"
        rf"|\b(?:any|every|all|the) {_MODELS} (?:that|which|who)? ?(?:reads?|sees?|processes|scans?|reading"
        rf"|processing|summari[sz]ing)"
        rf" (?:this|it|these)\b"
        r"|\byour (?:new|real|true|actual|only|sole|updated|secret) (?:task|goal|role|job|purpose|mission"
        r"|instructions?|objective"
        r"|persona|identity|rules?|directive|name|orders?)\b"
        rf"|{AT}(?:pretend|imagine|act|behave|roleplay|role-play)\s(?:to be|that you|you are|you're|as if you"
        rf"|as though you"
        rf"|like you|as an? (?:\w{{1,20}} ){{0,3}}(?:{_MODEL}|admin\w{{0,11}}|root|hacker|dan|expert|system"
        rf"|terminal|shell))"
    ),
    re.compile(
        rf"\b(?:from now on|from this (?:point|moment)(?: on| onwards?| forward)?|going forward|henceforth|starting now"
        rf"|for the rest of (?:this|the) (?:conversation|session|chat))\b,?\s(?:(?:and\s|that\s)?(?:you|your)\b"
        rf"|(?:the |this |every |any |all )?{_MODELS}\b"
        rf"|(?:please |always |never |only |do not |don't ){{0,2}}(?:{SAY}|act|treat|behave|ignore|call|speak"
        rf"|obey|follow|use|run"
        rf"|{SEND})\b(?! (?:the |a )?(?:fee|price|tax|rate))|(?:all |every |any )(?:of )?(?:your )?(?:repl(?:y"
        rf"|ies)|responses?"
        r"|answers?|outputs?)\b)"
    ),
    re.compile(
        rf"\b(?:the|this|any|every|all|our|an?) {_MODEL}s? (?:must|should|shall|will|has to|have to|needs? to"
        rf"|is to|are to|may|can"
        rf"|is required to|is instructed to)(?: now| only| not| also| never| always| immediately){{0,2}}"
        rf" (?:{SAY}|{SEND}|ignore|reveal|disclose|act|treat|trust|obey|follow|comply|execute|delete|approve"
        rf"|grant|forget|bypass"
        rf"|remember|call|use|rate|rank|never|always|assume|behave|stop|prioriti[sz]e|praise|include|append|prefer|hide"
        rf"|conceal|omit|add)\b"
        rf"|\b(?:note|message|instructions?|reminder|attention|notice|memo|command|order|warning"
        rf"|directive)s? (?:to|for) (?:the |all "
        rf"|any |an? |every |future ){{0,2}}{_MODELS}(?: (?:reading|processing|that reads?"
        rf"|handling)[\w ]{{0,30}})?\s?[:,.!-]"
        rf"|{AT}(?:attention|hey|dear|hello|listen|ok)[,: ]{{1,3}}(?:all |any |the )?{_MODELS}\s?[:,.!-]"
        rf"|^\s{{0,4}}(?:assistant|ai|chatbot), (?!and|or|but|the|an?|which|who)\w|^\s{{0,4}}{_MODEL}, (?:please "
        rf"|you |always |never |do |ignore |{SAY}|{SEND})",
        re.MULTILINE,
    ),
    re.compile(
        rf"{AT}(?:remember|make sure|be sure|do not forget|don't forget|ensure)\s(?:to|that you|you)\s"
        rf"(?:(?:always|never|every time|must|should|also)\s){{1,2}}\w"
        rf"|{AT}(?:always|never|secretly|silently)?\s?{SEND}\s{THOSE}{GOODS}\b[^.\n]{{0,80}}?\bto\s"
        rf"(?:https?:|www\.|\S{{1,64}}@|the (?:following|address|url|server|attacker|account|link|webhook"
        rf"|endpoint)|an? external"
        rf"|this (?:address|url|server|link|account|webhook)|attacker|evil)"
        rf"|{AT}(?:reveal|print|repeat|show|output|display|disclose|leak|share|dump|recite|expose|reproduce"
        rf"|tell me|give me|send me)\s"
        rf"(?:me |us |back |out )?(?:\w{{1,12}} ){{0,4}}(?:system prompt|system message|initial prompt"
        rf"|hidden (?:prompt|instructions)"
        rf"|developer (?:message|prompt)|your (?:instructions|prompt|rules|secrets|api keys?)"
        rf"|instructions (?:above|verbatim)"
        rf"|prompt (?:above|verbatim)|words above|text above)"
    ),
    re.compile(
        rf"\b(?:when(?:ever)?|if|each time|every time|any time|as soon as|should)\s(?:(?:you|you're|someone"
        rf"|somebody|anyone|anybody|the"
        rf"|an?|users?|they|he|she|customers?|clients?|people|are|is|ever|i|person|human|who|one|be|get|gets"
        rf"|operator|caller|[a-z]{{2,20}}(?= comes))\s){{0,5}}"
        rf"(?:asks?|asked|comes? up|queried|prompted|questioned|mentions?|says?|requests?|inquires?|enquires?"
        rf"|wants to know"
        rf"|types?)\b[^.\n!?]{{0,140}}?"
        rf"(?:,|\bthen)\s?(?:(?:then|please|always|just|only|you (?:must|should|will|need to)|simply|never|do not"
        rf"|don't|instead)\s){{0,3}}"
        rf"(?:{SAY}|{SEND}|ignore|call|run|execute|delete|use)\b(?!ed|s\b)"
        rf"|\bwithout (?:telling|informing|alerting|notifying|asking|the knowledge of|mentioning (?:it"
        rf"|this) to) (?:the )?(?:user|human"
        rf"|operator|customer|owner|them)s?\b"
    ),
    re.compile(
        r"(?:^|[\n.!*#>\[\"-]\s{0,3})(?:new|updated|revised|hidden|secret|real|actual|override|overriding|system"
        r"|admin(?:istrator)?"
        r"|developer|priority|mandatory|emergency)\s(?:system\s)?(?:instructions?|directives?|orders?|prompt"
        r"|override|command"
        r"|message)(?:\s(?:from|for|to|by)\s[\w ]{1,30})?\s{0,2}(?::|!|\]|- )|\b(?:system|admin|security|safety"
        r"|developer) override\b"
        rf"(?!s? (?:is|was|are|switch|key|button|panel|valve|function))|{AT}(?:enter|activate|enable|switch to"
        rf"|engage|go into)\s(?:\w{{1,12}} )?"
        r"(?:dan|god|jailbreak|jailbroken|unrestricted|unfiltered|evil|sudo|opposite)\s?mode|\bdo anything now\b"
        r"|\b(?:developer|dan|jailbreak|god|unrestricted) mode (?:enabled|activated|on)\b\s?[.!:]"
        r"|\b(?:ignore|disregard|bypass|disable|turn off) (?:your|all|any) (?:\w{1,12} ){0,2}(?:safety|security"
        r"|ethic\w{0,4}|moderation"
        r"|content|filters?|guardrails?|restrictions?|protections?)"
        r"|\b(?:ignor(?:a|e|ez|iere|are)|negeer) (?:todas? |toutes? |alle |tutte )?(?:as |las |los |les |le |die "
        r"|de |tus |suas |vos )?"
        r"(?:instruc\w{3,8}|consignes|anweisungen|istruzioni|vorherigen|vorigen?|instructies|bisherigen|anteriores"
        r"|precedent\w{0,4}|ordenes|regras"
        r"|reglas)\b(?:\s(?:anterior\w{0,3}|previ\w{0,4}|precedent\w{0,4}|anweisungen|instruktionen|de cima"
        r"|de arriba))?"
    ),
)

# Accents and lookalikes are as they were written here: these alphabets would be taken for Latin.
OTHER_LANGUAGES: Final = re.compile(
    r"(?:忽略|无视|忘记|忽視|無視)(?:你|您|掉|所有|之前|以上|先前|上面|前面|的|一切|全部){1,6}(?:指令|指示|说明|提示|规则|命令|設定|内容)"
    r"|(?:игнорируй|игнорируйте|забудь|забудьте)\s(?:все\s|всё\s)?(?:предыдущие|прошлые|прежние|вышеуказанные)\s"
    r"|(?:以前|前|上記|これまで)の(?:すべての|全ての)?(?:指示|命令|プロンプト)(?:を|は)(?:すべて)?(?:無視|忘れ)"
    r"|(?:이전|위의|앞의)\s?(?:모든\s)?(?:지시|명령|지침)\S{0,4}\s(?:모두\s)?무시"
    r"|تجاهل\s(?:جميع\s|كل\s)?(?:التعليمات|الأوامر|تعليماتك)|(?:पिछले|पूर्व)\s(?:सभी\s)?(?:निर्देशों"
    r"|आदेशों)\sको\s(?:अनदेखा|नज़रअंदाज़)"
    r"|从现在(?:开始|起)[,，]?\s?(?:你|您)|你现在(?:是|必须)"
)
