"""Whether an output says that the model cannot or will not answer (a heuristic of ours).

It knows phrases of the languages below, no grammar. Its precision and recall on labelled outputs
are in ``tests/report/test_output_heuristics.py``.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TypeAlias

_Groups: TypeAlias = tuple[tuple[str, ...], ...]

LOOKED_AT = 400
"""Characters at the start of an output in which a phrase counts: later ones are copied text."""

_VERBS = (
    r"(?:answer|know|assist|help|see|read|view|determine|provide|identify|find|make out|tell|say"
    r"|recogni[sz]e|locate|discern|confirm|verify|access|process|decipher|extract|infer)\b"
)
_DONE = (
    r"(?:determined|read|answered|identified|seen|made out|found|established|inferred|verified"
    r"|confirmed|recogni[sz]ed|deciphered|provided|given)\b"
)
_THING = (
    r"(?:image|picture|photo(?:graph)?|text|label|sign|screenshot|table|question|document|writing"
    r"|package|page|it)"
)
_SHOWN = (
    r"(?:legible|readable|visible|clear|given|provided|listed|stated|specified|mentioned|shown"
    r"|indicated|displayed|available|included|present|(?:in|on) the (?:image|picture|photo|label))"
)
_WHERE = r"(?: (?:in|on|from|by|enough|within)\b.*)?"

# Contractions are written out before these are looked for ("can't" is "can not"). The first text of
# each group is what every phrase of the group holds: it is cheap to look for.
_ENGLISH: _Groups = (
    (
        r"(?:do|does|did|is|are|was|were) not ",
        r"\b(?:i|we) (?:\w+ly )?do not know\b(?! how to)",
        rf"\b{_THING} (?:does|did|do) not (?:\w+ly )?"
        r"(?:show|contain|provide|include|mention|specify|state|say|give|indicate|display|have"
        r"|list)\b",
        rf"\b(?:is|are|was|were) not (?:\w+ly )?{_SHOWN}{_WHERE}\W*\Z",
        r"\A(?:it )?(?:does|do) not (?:say|show|tell)\W*\Z",
        r"\bi (?:do|did) not (?:\w+ly )?(?:see|have|find|recogni[sz]e|notice|spot)\b",
    ),
    (
        r"(?:can|could) not ",
        rf"\b(?:i|we) (?:can|could) not (?:\w+ly )?{_VERBS}",
        rf"\A(?:can|could) not (?:\w+ly )?{_VERBS}(?!ing)(?: |\Z)(?!falling)",
        rf"\b(?:can|could) not be (?:\w+ly )?{_DONE}",
        r"\b(?:can|could) not be (?:\w+ )?(?:certain|sure)\b",
    ),
    (
        r"i (?:am|was) ",
        r"\bi (?:am|was) (?:\w+ly )?(?:sorry|unable|not able|not sure|not certain|unsure"
        r"|uncertain)\b",
    ),
    (
        r"(?:able|possible|hard|difficult) to ",
        rf"\b(?:unable|not able|not possible|impossible|hard|difficult) to (?:\w+ly )?{_VERBS}",
    ),
    (
        r"sufficient |enough |no |nothing ",
        r"\b(?:insufficient|not enough|not sufficient|no) (?:\w+ )?(?:information|details?|context"
        r"|data)"
        r"(?=\W*\Z| (?:provided|available|given|about|on|in|is|was|regarding|to|for|that)\b)",
        r"\b(?:no|nothing) (?:is )?(?:visible|legible|readable)\b",
        r"\bi have no idea\b|\bno one (?:can|could)\b|\A(?:i have )?no clue\b",
        r"\Ano (?:\w+ ){1,3}(?:shown|given|visible|listed|mentioned|provided|found|indicated"
        r"|specified|stated|displayed|present|legible|detected|discernible|can be)\b",
    ),
    (
        r"there (?:is|are) ",
        r"\bthere (?:is|are) (?:no|not|not enough|insufficient) (?:\w+ ){0,2}(?:text|information"
        r"|answer|mention|indication|details?|data|image|visible|legible)\b",
        r"\bthere (?:is|are) nothing (?:to|in|on|written|legible|visible)\b",
        r"\bthere (?:is|are) no (?:\w+ ){1,3}(?:visible|shown|given|listed|mentioned|provided"
        r"|present|indicated|(?:in|on) (?:the|this))\b",
    ),
    (
        r"(?:not|un)(?: ?available| given|clear)",
        r"\A(?:the )?(?:\w+ )?(?:information|answer|text) (?:is )?(?:not|un)(?: ?available| given"
        r"|clear)",
    ),
    (
        r"too |illegible|unreadable|unclear|blurr|missing|cut off|cropped|hidden|obscured|covered"
        r"|blocked|out of focus|faded|distorted",
        rf"\b(?:the|this|that) (?:\w+ ){{0,3}}{_THING} (?:is|are|was|seems|appears) (?:\w+ )?"
        r"(?:too (?:blurry|blurred|small|dark|low|far|faint|unclear)|illegible|unreadable|unclear"
        r"|blurry)",
        r"\b(?:the|this|that) (?:\w+ ){1,3}(?:is|are|was) (?:\w+ly )?(?:missing|cut off|cropped"
        r"|hidden|obscured|covered|blocked|blurred|blurry|out of focus|faded|distorted|unreadable"
        r"|illegible|too (?:low|small|dark|blurry|far|faint|poor))\b",
    ),
    (
        r"as an? |unanswerable|i apolog|apologies|nobody |need a |language model|beats me"
        r"|unfortunately|not written|please ",
        r"\bas an? (?:ai|artificial|(?:large )?language model|text)\b",
        r"\bunanswerable\b|\bi apologi[sz]e\b|\A(?:my )?apologies\b|\bnobody (?:can|could)\b",
        r"\bi (?:would )?need a (?:\w+ )?(?:better|clearer|sharper|closer|higher)\b",
        r"\b(?:a|an|ai) (?:\w+ )?language model\b|\Abeats me\b",
        r"\Aunfortunately,? (?:the|i|it|this|there|that)\b|\bnot written\b",
        rf"\bplease (?:provide|upload|share|send) (?:\w+ ){{0,3}}{_THING}",
    ),
)
_ENGLISH_WHOLE = (
    rf"(?:unknown|n/a|unclear|undetermined|illegible|unreadable|indeterminate|idk|no idea|no answer"
    rf"|blank|indecipherable|missing"
    rf"|(?:un|not )(?:specified|mentioned|known|sure|certain|applicable|answerable|found"
    rf"|determinable"
    rf"|stated|available|clear|visible)|not {_SHOWN}|no text)(?: (?:in|on|from|by) .{{0,40}})?"
)

_CHINESE = (
    r"[无不没难未]|抱歉|作为|模糊",
    r"(?:无法|不能|没法|难以)(?:直接|准确|清楚|完全)?(?:回答|确定|识别|提供|看清|看到|辨认|辨识"
    r"|判断|判定|得知"
    r"|读取|确认|获取|知道|从|给出|找到|阅读|查看|看出|理解|分析|处理|访问|打开|解答|作答)",
    r"看不[清到见出懂]|没写|没标|(?:抱歉|对不起|不好意思)|作为(?:一个|一名)?(?:ai|人工智能"
    r"|语言模型)",
    r"(?:没有|未)(?:明确)?(?:提到|提及|显示|写|标[明注出]|给出|说明|注明|提供|包含|相关|足够|答案"
    r"|看到|找到)",
    r"^(?:我)?(?:也|真的)?不(?:知道|清楚|确定|太清楚)",
    r"(?:图|图片|图像|照片|文字|字).{0,4}(?:太|过于|比较|很)?(?:模糊|不清)|(?:图|图片|图像"
    r"|照片)(?:里|中|上|内)?(?:没有|没|未)|信息不足|无从得知",
)
_CHINESE_WHOLE = r"(?:未知|不详|不明|不清晰|不可读|无答案|无信息|不存在)"

_JAPANESE = (
    r"せん|ない|なし|申し訳|不|かりかね|読",
    r"[分判解わ]?か?りません|[分わ]か?らない|読み?取れ(?:ません|ない)|読めません|判読(?:でき|不能"
    r"|不可)",
    r"(?:確認|特定|回答|判断|識別)(?:は|が)?でき(?:ません|ない)|(?:記載|情報)(?:されていません"
    r"|が?はありません|なし)",
    r"見え(?:ません|ない)|申し訳|答えられ(?:ません|ない)|(?:書かれて|載って|写って)い(?:ません"
    r"|ない)|^不明|不明(?:です|瞭)|わかりかね|存在しません",
)
_KOREAN = (
    r"없|있지|보이지|모르겠|모릅니다|몰라요|죄송|불분명|않",
    r"(?:알|확인할|읽을|볼|답할|답변할|판단할|찾을|알아볼|식별할) 수 ?(?:가 )?없",
    r"모르겠|모릅니다|몰라요|죄송|불분명|(?:이미지|사진|그림)에는? ?(?:없|나와 ?있지|보이지)"
    r"|명시되어 있지 않",
)
_FRENCH = (
    r"je [nl]|aucune |pas |non |impossible |illisible|d[ée]sol",
    r"\bje ne (?:sais|peux|vois|parviens|trouve|connais|suis) pas\b|\bje l['’]ignore\b",
    r"\baucune (?:id[ée]e|information|r[ée]ponse|indication|mention)\b|\bpas de (?:r[ée]ponse"
    r"|texte)\b|\bje n['’](?:arrive|ai|y arrive)|\bimpossible (?:de |à )|\billisible\b"
    r"|\bd[ée]sol[ée]e?\b",
    r"\b(?:pas|non) (?:\w+ment )?(?:visible|lisible|indiqu|mentionn|pr[ée]cis|sp[ée]cifi"
    r"|disponible)",
)
_GERMAN = (
    r"nicht|keine |unleserlich|tut mir leid",
    r"\bwei(?:ß|ss) (?:ich |es |das )*nicht\b|\bbin (?:mir )?nicht sicher\b|\bnicht (?:auf"
    r"|in) dem bild\b|\bkeine (?:ahnung|angaben?|information)",
    r"\bkann (?:ich )?(?:\w+ ){0,3}nicht (?:\w+ )?(?:lesen|erkennen|beantworten|bestimmen|sehen"
    r"|sagen)",
    r"\bnicht (?:lesbar|leserlich|erkennbar|angegeben|sichtbar|bestimmbar|zu (?:erkennen|lesen)"
    r"|ersichtlich|genannt)\b|\bunleserlich\b|\bl(?:ä|ae)sst sich nicht\b|\btut mir leid\b",
)
_SPANISH = (
    r"no |lo siento|sin |ilegible|imposible ",
    r"\bno (?:lo )?sé\b|\bno lo se\b|\Ano se\W*\Z|\bno se (?:puede|ve|indica"
    r"|menciona|aprecia|especifica|muestra|distingue|lee)\b",
    r"\bno (?:puedo|logro|consigo|alcanzo a)\b|\bno (?:es|resulta|est[áa]) (?:posible|visible"
    r"|legible"
    r"|claro|indicado|disponible)|\blo siento\b|\bno estoy segur[oa]\b|\bno tengo (?:ni )?idea\b"
    r"|\b(?:sin"
    r"|no hay) (?:informaci|respuesta|datos)|\bilegible\b|\bno aparece\b"
    r"|\bimposible (?:de )?\w+r\b",
)
_PORTUGUESE = (
    r"n[ãa]o |desculpe|sem |ileg",
    r"\bn[ãa]o (?:sei|consigo|posso|aparece|d[áa] para)\b|\bdesculpe\b|\b(?:sem"
    r"|n[ãa]o h[áa]) (?:informa|resposta)|\bileg[íi]vel\b",
    r"\bn[ãa]o (?:é|est[áa]|foi) (?:poss[íi]vel|vis[íi]vel|leg[íi]vel|claro|indicad|mencionad"
    r"|dispon)",
)
_ITALIAN = (
    r"non |mi dispiace|nessuna |illeggibile",
    r"\bnon (?:lo )?so\b|\bnon (?:posso|riesco)\b|\bmi dispiace\b|\bnon (?:lo )?vedo\b"
    r"|\bnon saprei\b"
    r"|\bnessuna (?:informazion|risposta)|\billeggibile\b",
    r"\bnon (?:è|e['’]|si) (?:possibile|visibile|leggibile|indicat|chiar|specificat|vede|legge"
    r"|pu[òo])",
)
_RUSSIAN = (
    r"не |нет |затрудняюсь|невозможно|неизвестно|неразборчив|извините|сожалению|нечитаем",
    r"\bне (?:знаю|могу|видно|виден|видна|указан\w*|ясно|известно|удалось|уверен\w*|вижу|понятно"
    r"|определ\w+|написано|уда[её]тся|читается)\b",
    r"\bнет (?:информации|ответа|данных)\b|\bзатрудняюсь\b|\bневозможно\b|\bнеизвестно\b"
    r"|\bнеразборчив|\bизвините\b|\bк сожалению\b|\bнечитаем",
)
_OTHER_LATIN = (
    r"bilm|bilin|belli |emin |okun|okuy|belirl|belirt|üzg|görün|không |xin |tidak |maaf|niet"
    r"|onleesbaar|geen |nie |nieczy",
    r"\bbilmiyorum\b|\bbilinmiyor\b|\bbelli değil\b|\bemin değil|\bokunam|\bokuyam|\bbelirlenem"
    r"|\bbelirtilmem|\büzgünüm\b"
    r"|\bgörünm",
    r"\bkhông (?:biết|thể|rõ|xác định|có thông tin|nhìn|đọc)|\bxin lỗi\b",
    r"\btidak (?:tahu|dapat|bisa|diketahui|terlihat|jelas|terbaca|disebutkan)\b|\bmaaf\b",
    r"\bweet (?:ik )?(?:het |dat )?niet\b|\bniet (?:leesbaar|zichtbaar|vermeld|te lezen)"
    r"|\bonleesbaar\b",
    r"\bgeen idee\b|\bnie (?:wiem|mogę (?:\w+ )?(?:odczyta|odpowiedzie)|widać|podano)|\bnieczyteln",
)
_OTHER_SCRIPTS = (
    r"[\u0600-\u06ff\u0900-\u097f\u0e00-\u0e7f]",
    r"لا (?:أعرف|أعلم|أدري|أرى|أستطيع|يمكن|توجد معلومات|يظهر)|لست متأكد|غير (?:واضح|معروف|مذكور"
    r"|مرئي|مقروء|محدد)|آسف|عذر",
    r"ไม่(?:ทราบ|รู้|สามารถ|ชัดเจน|พบ|ปรากฏ)|ขอโทษ|ขออภัย",
    r"(?:पता|मालूम|स्पष्ट) नहीं|नहीं (?:पता|मालूम)|नहीं \w+ सकत|क्षमा करें|माफ़ करें",
)

LATIN: _Groups = (*(*_ENGLISH, _FRENCH, _GERMAN, _SPANISH, _PORTUGUESE, _ITALIAN, _OTHER_LATIN),)
OTHER_SCRIPTS: _Groups = (_CHINESE, _JAPANESE, _KOREAN, _RUSSIAN, _OTHER_SCRIPTS)
"""Phrases of scripts that ASCII does not hold."""


@cache
def _joined(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _holds(said: str, groups: _Groups) -> bool:
    """Whether a text holds a phrase; the patterns are compiled when a text first needs them."""
    if not _joined(tuple(hint for hint, *_ in groups)).search(said):
        return False
    return any(
        _joined((hint,)).search(said) and _joined(tuple(phrases)).search(said)
        for hint, *phrases in groups
    )


_WHOLE = re.compile(
    rf"(?:{_ENGLISH_WHOLE}|{_CHINESE_WHOLE}|inconnue?|unbekannt|desconocid[oa]|desconhecid[oa]"
    r"|sconosciut[oa]|onbekend|nieznan[ey]|알 수 없음|없음)"
)
_NOT = re.compile(r"\b(do|does|did|is|are|was|were|could|ca|have|has|would)n'?t\b")


def is_refusal(text: str) -> bool:
    """Whether an output reads like a refusal, or says that the answer is not to be seen.

    Single words count where they are the whole output ("Unknown."). Phrases are known in English,
    Chinese, Japanese, Korean, French, German, Spanish, Portuguese, Italian, Russian, and a few in
    Arabic, Dutch, Hindi, Indonesian, Polish, Thai, Turkish and Vietnamese.
    """
    said = written_out(text[:LOOKED_AT])
    if _holds(said, LATIN) or (not said.isascii() and _holds(said, OTHER_SCRIPTS)):
        return True
    return _WHOLE.fullmatch(said.strip(" .!。！")) is not None


def written_out(text: str) -> str:
    """Lower case, with English contractions written out and runs of white space made one."""
    text = " ".join(text.lower().replace("’", "'").split())
    text = text.replace("cannot", "can not").replace("i'm ", "i am ").replace("it's ", "it is ")
    if "n't" not in text and "nt" not in text:
        return text
    return _NOT.sub(lambda match: f"{'can' if match[1] == 'ca' else match[1]} not", text)
