"""The closed classes of English that mood is read from, and the open ones that were worth a list."""

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PRONOUNS: Final = _set("i you he she it we they this that these those there one who someone everybody everyone nobody")
DETERMINERS: Final = _set(
    "the a an my your our his her its their this that these those some any each every no all both"
)
BE: Final = _set("is are was were am be been")
AUXILIARIES: Final = BE | _set(
    "do does did has have had can could will would shall should may might must need ought cannot"
)
MODALS: Final = _set("can could will would shall should may might must ought")
WH: Final = _set("what who whom whose which when where why how whats hows")
NEGATIONS: Final = _set("not no never nothing none nobody neither nor without")

PREPOSITIONS: Final = _set("to of for with by at in on from and or than until")
# What opens a phrase that has no verb of its own.
OPENS_A_PHRASE: Final = _set(
    "about after against all also although among around as because before behind below beside between beyond despite"
    " during each even except half inside instead into like near off only onto outside over per plus quite rather"
    " since so such than that though through till toward towards under unlike until via whereas while within without"
    " yet both double twice many most much none neither either never ever still once maybe perhaps whatever"
)

# Words that open a sentence without saying anything yet.
FILLERS: Final = _set(
    "so and but okay well also hey hi hello oh ah um uh uhm hmm please just now then like anyway alright hiya yo"
    " kindly yes yeah yep yup sure thanks no nope however plus anyways again quick finally first second next dear mate"
    " immediately quickly hurry ai siri alexa"
)

# What somebody is asked to do. Those that are as often a noun are in NOUN_OR_VERB too.
ACTIONS: Final = _set(
    "accept activate add adjust analyze analyse append apply approve archive arrange assign attach audit automate"
    " balance block book brainstorm build buy calculate call cancel change charge check choose clean clear close"
    " collect combine come compare compile complete compose compress compute configure confirm connect contact convert"
    " copy correct count create debug decline decrease delete deliver deploy design develop diagnose disable"
    " disconnect discontinue divide do dim download draft draw drop edit email enable encrypt enter erase escalate"
    " estimate evaluate examine expand expedite export extend extract fetch file fill filter find finish fix flag flip"
    " fly follow forecast format forward freeze generate get give go grade grab guess halt handle help hide hire"
    " identify implement import improve include increase insert inspect install invite issue join keep launch lay"
    " leave let link listen load locate lock log look lower mail make manage map mark measure merge message migrate"
    " modify monitor move multiply mute name navigate negotiate notify open optimize optimise order organize organise"
    " outline pack pair paraphrase parse pause pay pick ping place plan play plot polish pop post predict prepare"
    " print prioritize process produce proofread propose provide pull purchase push put quiz raise rank rate reboot"
    " rebuild recalculate recommend record redeem redline redo reduce refactor reformat refresh refund register reject"
    " release remind remove rename renew rent reorder repair replace reply report request reschedule research reserve"
    " reset resolve respond restart restore resume retrieve return revert review revise rewrite ring roll rollback"
    " route run save scan schedule score search secure select sell send separate set setup share ship sign simplify"
    " simulate skip solve sort speak spell split start stop store submit subscribe subtract suggest sum summarise"
    " summarize swap switch sync synchronize tag take talk teach test text trace track train transcribe transfer"
    " transform translate troubleshoot try turn unblock uninstall unlock unsubscribe unsync update upgrade upload use"
    " validate verify visualize wake wire withdraw work wrap write yell zip roast rephrase shorten lengthen adapt"
    " benchmark blacklist whitelist slow speed whisper dial google sing recite imagine redact anonymize tidy trim"
    " rotate crop resize highlight underline notarize amend bookmark reconcile refill redirect rearrange recap recheck"
    " reopen resend sketch begin engage toss alert inform read negate prove quit shut cross trash walk stream unpair"
    " dismiss hang abbreviate accelerate acknowledge advertise align allocate annotate announce anonymise authorize"
    " authorise backup bake bill boost brew bring broadcast bump capture cast categorize categorise chart classify"
    " clone code collate colour color commit condense consolidate construct cook credit customize customise cut decode"
    " decrypt deduct delegate demonstrate deposit derive detect determine discard discuss dispatch dispute distribute"
    " document double enlarge enrol enroll ensure execute expense facilitate favorite fold formulate gather group"
    " guide heat host hunt illustrate index initiate inquire integrate interpret introduce investigate invoice isolate"
    " itemize itemise iterate label layout lend lint localize localise lookup maintain match memorize memorise"
    " minimize minimise mix mock normalize normalise nominate obtain overwrite page paint park paste patch perform"
    " permit pin pinpoint pitch port prefill preorder present prompt promote project provision publish punctuate query"
    " queue quote randomize reach receive refine reformulate reimburse relocate remake renegotiate reorganize"
    " reorganise reprint repeat rescale retry reword round sanitize scale scrape screen seal shift shrink shuffle"
    " silence slice snooze spin streamline strip substitute summon supply survey suspend synthesize tabulate tally"
    " terminate tighten toggle transpose triage trigger tune unassign undo unmute unpack unpin unfreeze vectorize void"
    " waive warn watch weigh wipe yank forget decide shortlist ignore disregard scrap declare onboard halve vacuum"
    " conjugate shake throw avoid ask"
)
NOUN_OR_VERB: Final = _set(
    "access address answer audit balance block book budget call change charge check contact copy count design draft"
    " drop email estimate file filter finish fix flag forecast format fund grade guess help hire issue launch lease"
    " link list load lock log look mail map mark measure message move name note order pack pair park pause pay phone"
    " place plan play post print process purchase quiz rank rate record refund release rent repair reply report"
    " request research reserve reset return review ring roll route run sale schedule score search share ship sign sort"
    " start stop store sum switch tag talk test text time track train transfer trip turn update upgrade upload use"
    " visit vote wire work project zip set total payment open clean clear complete correct close express separate"
    " secure lower live go bake bill boost brew bump capture cast chart clone code commit cook credit cut deposit"
    " dispute document double expense factor favorite fold group guide heat host hunt index invoice label layout match"
    " mix mock number offer page paint paste patch permit pin pitch port present profile prompt query queue quote"
    " reach round scale screen seal shift slice spin stage structure supply survey tally title toggle trigger tune"
    " type void watch wipe discuss reprint substitute account act aim amount approach award bear bound cap chair claim"
    " command concern contract control date default delay demand direct edit equal experience face feature feed fight"
    " fire flow gain grant guarantee guard handle harm head hope import itch jump kick lack lecture license lift limit"
    " love mention merge mind monitor mount neighbor notice orbit peak pick point practice profit promise raise range"
    " recall register result rule sail seat select slip smell sound span sponsor stand state stem stock strike"
    " struggle suspect target taste touch trace trade transport treat trust urge value view volunteer wash waste"
    " welcome witness yield"
)
# Asking to be told: a question in the form of a request.
TELLING: Final = _set("tell explain describe define clarify elaborate show list enumerate state specify name remind")

# Verbs that are only ever finite or a participle, so that a noun before them is their subject.
VERBS: Final = _set(
    "accept add adopt affect agree allow appear apply arrive ask attend base become became began begin begun belong"
    " bought break broke broken bring brought build built buy call came caught cause change charge choose chose close"
    " come consist contain cost cover crash create cut deal decide deliver depend deploy die do drink drive drove earn"
    " eat ate employ end expire fail fall fell feel felt find finish fit flew fly follow forget forgot found gave get"
    " give go got graduate grew grow had happen have hear heard held hire hold house include increase join keep kept"
    " know knew land last launch lead learn leave led left lend lent let lie list live lost made maintain make manage"
    " marry mean meet met merge move need occur offer open operate order owe own paid park pass pay perform play"
    " prefer produce provide publish put quit ran read receive refer reject release rely remain rent replace report"
    " represent require resign retire return ride rode rise rose run said sat save saw say see sell send sent serve"
    " set share ship show sign sit sleep slept smoke sold speak spend spent spoke start stay stop store study support"
    " switch take taught teach tell test think thought thread throw told took total travel turn use visit vote wait"
    " walk want watch wear weigh went win won work write wrote woke wore bleed bled hurt hit shut split spread upgrade"
    " train swim swam sing sang drank account absorb achieve acquire act address admit advise aim allocate amount"
    " anticipate approach argue arise assist assume attract avoid await award backfire bear beat behave bill bind blow"
    " boost borrow breach burn bury cap carry celebrate certify chair claim climb collapse collect combine command"
    " commute compare compete complain complete comprise concern conduct confirm conflict connect consider constitute"
    " consume contract contribute control convert cooperate coordinate correspond crack cultivate date deduct deem"
    " default defer delay demand deny depart design destroy detect develop differ direct disable disagree discover"
    " dislike distribute divide divorce donate dominate double drain drop edit elect eliminate embed emit enable"
    " encourage enforce engage enjoy ensure enter entitle equal escape establish estimate exceed exclude exist expand"
    " experience explain expose extend face feature feed fight file fire flow fund gain gather generate govern grant"
    " guarantee guard handle harm hate head heal help hide hope host identify ignore imply import impose improve"
    " indicate inform inherit inhabit inspect insure intend introduce invent invest investigate invite involve issue"
    " itch jump kill kick lack lay lease lecture license lift limit link load locate lock log look lose love measure"
    " mention mind miss monitor mount negotiate neighbor notice number obtain omit oppose orbit organize originate"
    " outsource oversee overlap pack participate peak permit persist pick plan point possess practise practice predict"
    " prescribe present prevent process profit prohibit promise promote protect prove purchase qualify quote raise"
    " range rank rate reach realize recall recommend record recover recruit recycle reduce refuse refund register"
    " regulate relate relocate remember remind remove renew repair reply request research resemble reserve reside"
    " resolve respond restrict result resume retain reveal reverse review revoke ring roll rotate rule sail sanction"
    " satisfy scale schedule score seat secure select separate settle shift shrink sink slip smell snore solve sound"
    " span specialize specify sponsor stand state stem stock strike struggle submit subscribe subsidize succeed sue"
    " suffer suggest suit sum supervise supply surround survive suspend swallow target taste tend terminate thank"
    " tolerate touch trace track trade translate transport treat trigger trust type undergo underwrite unite unload"
    " update urge value vary verify view violate volunteer warn wash waste welcome withdraw withhold witness worship"
    " yield stink sting stung stood struck sunk sank shrank dealt drew drawn grown known shown taken given written"
    " spoken driven flown chosen eaten fallen forgotten hidden ridden risen seen stolen sworn thrown torn worn bound"
    " bitten frozen lain"
)

# Said of what was done: they open no request.
PASTS: Final = _set(
    "bought broke got made sent took paid found gave told lost saw went ran wrote said sold left kept had spent met ate"
    " drank drove flew came knew built brought caught chose felt forgot grew heard held led lent rode rose sat slept"
    " spoke taught thought threw won woke wore been done gone seen"
)

# Shared by no other language that is written so: what tells English from the rest.
ENGLISH: Final = _set(
    "the and of to is are was were my our your his her their it i you he she we they this that these those what which"
    " who how when where why not with from for at by on have has had do does did can could will would should been be"
    " but or if as about there than then into out up down just now some any all more no yes please thanks thank am us"
    " per every each"
)
FOREIGN: Final = _set(
    "el la los las un una de del que y en es son por para con mi tu su está como cuál qué le les des du et est sont"
    " dans pour avec mon ma mes ton sur où une qui ce cette il elle nous vous der die das und ist sind ein eine mit"
    " für von zu den dem wir ich nicht wie wo im auf lo gli di che è sono per non più della nel het een van dat ik wij"
    " niet met voor zijn o os e um uma não em são com meu minha da do na no jest nie się i to w av och det att är som"
    " på ja ve bir bu için ben var"
)

# What somebody thinks of a thing, and no fact about it.
EVALUATIVE: Final = _set(
    "good great bad terrible awful amazing awesome wonderful fantastic excellent horrible nice lovely beautiful ugly"
    " boring interesting exciting confusing confused unfair fair fun funny cool ridiculous stupid dumb silly crazy"
    " weird strange odd overpriced overvalued undervalued expensive cheap better worse best worst perfect brilliant"
    " impressive disappointing disappointed annoying annoyed frustrating frustrated useless helpful pathetic delicious"
    " tasty gross disgusting cute pretty gorgeous stunning incredible unbelievable unacceptable outrageous scary sad"
    " happy glad thrilled excited tired exhausted sleepy bored angry upset mad worried anxious nervous stressed"
    " overwhelmed lonely hungry thirsty proud grateful thankful sorry sure unsure certain afraid scared hopeful"
    " curious lost stuck fine okay ok well alright hard easy difficult simple complicated tough rough slow fast nicer"
    " easier harder cheaper prettier important essential clear obvious likely unlikely possible impossible rude kind"
    " friendly sweet charming clunky mediocre decent solid superb outstanding lousy dreadful poor underrated overrated"
    " dull insane absurd lame genius worth pleased satisfied unhappy impressed surprised shocked intuitive messy clean"
    " elegant loud smart reasonable unreasonable promising risky attractive appealing suspicious wild magical"
    " hilarious adorable miserable"
)
