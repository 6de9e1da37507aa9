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
    " dismiss hang"
)
NOUN_OR_VERB: Final = _set(
    "access address answer audit balance block book budget call change charge check contact copy count design draft"
    " drop email estimate file filter finish fix flag forecast format fund grade guess help hire issue launch lease"
    " link list load lock log look mail map mark measure message move name note order pack pair park pause pay phone"
    " place plan play post print process purchase quiz rank rate record refund release rent repair reply report"
    " request research reserve reset return review ring roll route run sale schedule score search share ship sign sort"
    " start stop store sum switch tag talk test text time track train transfer trip turn update upgrade upload use"
    " visit vote wire work project zip set total payment open clean clear complete correct close express separate"
    " secure lower live go"
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
    " train swim swam sing sang drank"
)

# Shared by no other language that is written so: what tells English from the rest.
ENGLISH: Final = _set(
    "the and of to is are was were my our your his her their it i you he she we they this that these those what which"
    " who how when where why not with from for at by on have has had do does did can could will would should been be"
    " but or if as about there than then into out up down just now some any all more no yes please thanks thank am"
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
