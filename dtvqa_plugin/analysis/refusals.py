"""Whether an output says that the model cannot or will not answer (a heuristic of ours).

It knows phrases of the languages below, no grammar. Its precision and recall on labelled outputs
are in ``tests/report/test_output_heuristics.py``.
"""

from __future__ import annotations

import re

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

# Contractions are written out before these are looked for ("can't" is "can not").
_ENGLISH = (
    r"\b(?:i|we) (?:\w+ly )?do not know\b(?! how to)",
    r"\bi (?:am|was) (?:\w+ly )?(?:sorry|unable|not able|not sure|not certain|unsure|uncertain)\b",
    rf"\b(?:i|we) (?:can|could) not (?:\w+ly )?{_VERBS}",
    rf"\A(?:can|could) not (?:\w+ly )?{_VERBS}(?!ing)(?: |\Z)(?!falling)",
    rf"\b(?:can|could) not be (?:\w+ly )?{_DONE}",
    rf"\b(?:unable|not able|not possible|impossible|hard|difficult) to (?:\w+ly )?{_VERBS}",
    r"\b(?:insufficient|not enough|not sufficient|no) (?:\w+ )?(?:information|details?|context"
    r"|data)"
    r"(?=\W*\Z| (?:provided|available|given|about|on|in|is|was|regarding|to|for|that)\b)",
    r"\A(?:the )?(?:\w+ )?(?:information|answer|text) (?:is )?(?:not|un)(?: ?available| given"
    r"|clear)",
    rf"\b(?:the|this|that) (?:\w+ ){{0,3}}{_THING} (?:is|are|was|seems|appears) (?:\w+ )?(?:too "
    r"(?:blurry|blurred|small|dark|low|far|faint|unclear)|illegible|unreadable|unclear|blurry)",
    rf"\b{_THING} (?:does|did|do) not (?:\w+ly )?"
    r"(?:show|contain|provide|include|mention|specify|state|say|give|indicate|display|have|list)\b",
    rf"\b(?:is|are|was|were) not (?:\w+ly )?{_SHOWN}{_WHERE}\W*\Z",
    r"\bthere (?:is|are) (?:no|not|not enough|insufficient) (?:\w+ ){0,2}(?:text|information"
    r"|answer"
    r"|mention|indication|details?|data|image|visible|legible)\b",
    r"\b(?:no|nothing) (?:is )?(?:visible|legible|readable)\b",
    r"\bas an? (?:ai|artificial|(?:large )?language model|text)\b",
    r"\A(?:it )?(?:does|do) not (?:say|show|tell)\W*\Z|\bunanswerable\b|\bi apologi[sz]e\b"
    r"|\A(?:my )?apologies\b|\bi have no idea\b",
    r"\b(?:can|could) not be (?:\w+ )?(?:certain|sure)\b|\b(?:nobody|no one) (?:can|could)\b",
    r"\bi (?:do|did) not (?:\w+ly )?(?:see|have|find|recogni[sz]e|notice|spot)\b",
    r"\bi (?:would )?need a (?:\w+ )?(?:better|clearer|sharper|closer|higher)\b",
    r"\b(?:a|an|ai) (?:\w+ )?language model\b|\A(?:i have )?no clue\b|\Abeats me\b",
    r"\b(?:the|this|that) (?:\w+ ){1,3}(?:is|are|was) (?:\w+ly )?(?:missing|cut off|cropped|hidden"
    r"|obscured|covered|blocked|blurred|blurry|out of focus|faded|distorted|unreadable|illegible"
    r"|too (?:low|small|dark|blurry|far|faint|poor))\b",
    r"\bthere (?:is|are) nothing (?:to|in|on|written|legible|visible)\b",
    r"\bthere (?:is|are) no (?:\w+ ){1,3}(?:visible|shown|given|listed|mentioned|provided|present"
    r"|indicated|(?:in|on) (?:the|this))\b",
    r"\Ano (?:\w+ ){1,3}(?:shown|given|visible|listed|mentioned|provided|found|indicated|specified"
    r"|stated|displayed|present|legible|detected|discernible|can be)\b",
    r"\Aunfortunately,? (?:the|i|it|this|there|that)\b|\bnot written\b",
    rf"\bplease (?:provide|upload|share|send) (?:\w+ ){{0,3}}{_THING}",
)
_ENGLISH_WHOLE = (
    rf"(?:unknown|n/a|unclear|undetermined|illegible|unreadable|indeterminate|idk|no idea|no answer"
    rf"|blank|indecipherable|missing"
    rf"|(?:un|not )(?:specified|mentioned|known|sure|certain|applicable|answerable|found"
    rf"|determinable"
    rf"|stated|available|clear|visible)|not {_SHOWN}|no text)(?: (?:in|on|from|by) .{{0,40}})?"
)

_CHINESE = (
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
    r"[分判解わ]?か?りません|[分わ]か?らない|読み?取れ(?:ません|ない)|読めません|判読(?:でき|不能"
    r"|不可)",
    r"(?:確認|特定|回答|判断|識別)(?:は|が)?でき(?:ません|ない)|(?:記載|情報)(?:されていません"
    r"|が?はありません|なし)",
    r"見え(?:ません|ない)|申し訳|答えられ(?:ません|ない)|(?:書かれて|載って|写って)い(?:ません"
    r"|ない)|^不明|不明(?:です|瞭)|わかりかね|存在しません",
)
_KOREAN = (
    r"(?:알|확인할|읽을|볼|답할|답변할|판단할|찾을|알아볼|식별할) 수 ?(?:가 )?없",
    r"모르겠|모릅니다|몰라요|죄송|불분명|(?:이미지|사진|그림)에는? ?(?:없|나와 ?있지|보이지)"
    r"|명시되어 있지 않",
)
_FRENCH = (
    r"\bje ne (?:sais|peux|vois|parviens|trouve|connais|suis) pas\b|\bje l['’]ignore\b",
    r"\baucune (?:id[ée]e|information|r[ée]ponse|indication|mention)\b|\bpas de (?:r[ée]ponse"
    r"|texte)\b|\bje n['’](?:arrive|ai|y arrive)|\bimpossible (?:de |à )|\billisible\b"
    r"|\bd[ée]sol[ée]e?\b",
    r"\b(?:pas|non) (?:\w+ment )?(?:visible|lisible|indiqu|mentionn|pr[ée]cis|sp[ée]cifi"
    r"|disponible)",
)
_GERMAN = (
    r"\bwei(?:ß|ss) (?:ich |es |das )*nicht\b|\bbin (?:mir )?nicht sicher\b|\bnicht (?:auf"
    r"|in) dem bild\b|\bkeine (?:ahnung|angaben?|information)",
    r"\bkann (?:ich )?(?:\w+ ){0,3}nicht (?:\w+ )?(?:lesen|erkennen|beantworten|bestimmen|sehen"
    r"|sagen)",
    r"\bnicht (?:lesbar|leserlich|erkennbar|angegeben|sichtbar|bestimmbar|zu (?:erkennen|lesen)"
    r"|ersichtlich|genannt)\b|\bunleserlich\b|\bl(?:ä|ae)sst sich nicht\b|\btut mir leid\b",
)
_SPANISH = (
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
    r"\bn[ãa]o (?:sei|consigo|posso|aparece|d[áa] para)\b|\bdesculpe\b|\b(?:sem"
    r"|n[ãa]o h[áa]) (?:informa|resposta)|\bileg[íi]vel\b",
    r"\bn[ãa]o (?:é|est[áa]|foi) (?:poss[íi]vel|vis[íi]vel|leg[íi]vel|claro|indicad|mencionad"
    r"|dispon)",
)
_ITALIAN = (
    r"\bnon (?:lo )?so\b|\bnon (?:posso|riesco)\b|\bmi dispiace\b|\bnon (?:lo )?vedo\b"
    r"|\bnon saprei\b"
    r"|\bnessuna (?:informazion|risposta)|\billeggibile\b",
    r"\bnon (?:è|e['’]|si) (?:possibile|visibile|leggibile|indicat|chiar|specificat|vede|legge"
    r"|pu[òo])",
)
_RUSSIAN = (
    r"\bне (?:знаю|могу|видно|виден|видна|указан\w*|ясно|известно|удалось|уверен\w*|вижу|понятно"
    r"|определ\w+|написано|уда[её]тся|читается)\b",
    r"\bнет (?:информации|ответа|данных)\b|\bзатрудняюсь\b|\bневозможно\b|\bнеизвестно\b"
    r"|\bнеразборчив|\bизвините\b|\bк сожалению\b|\bнечитаем",
)
_OTHERS = (
    r"لا (?:أعرف|أعلم|أدري|أرى|أستطيع|يمكن|توجد معلومات|يظهر)|لست متأكد|غير (?:واضح|معروف|مذكور"
    r"|مرئي|مقروء|محدد)|آسف|عذر",
    r"\bbilmiyorum\b|\bbilinmiyor\b|\bbelli değil\b|\bemin değil|\bokunam|\bokuyam|\bbelirlenem"
    r"|\bbelirtilmem|\büzgünüm\b"
    r"|\bgörünm",
    r"\bkhông (?:biết|thể|rõ|xác định|có thông tin|nhìn|đọc)|\bxin lỗi\b",
    r"\btidak (?:tahu|dapat|bisa|diketahui|terlihat|jelas|terbaca|disebutkan)\b|\bmaaf\b",
    r"ไม่(?:ทราบ|รู้|สามารถ|ชัดเจน|พบ|ปรากฏ)|ขอโทษ|ขออภัย",
    r"(?:पता|मालूम|स्पष्ट) नहीं|नहीं (?:पता|मालूम)|नहीं \w+ सकत|क्षमा करें|माफ़ करें",
    r"\bweet (?:ik )?(?:het |dat )?niet\b|\bniet (?:leesbaar|zichtbaar|vermeld|te lezen)"
    r"|\bonleesbaar\b",
    r"\bgeen idee\b|\bnie (?:wiem|mogę (?:\w+ )?(?:odczyta|odpowiedzie)|widać|podano)|\bnieczyteln",
)

_PHRASES = re.compile(
    "|".join(
        (*_ENGLISH, *_CHINESE, *_JAPANESE, *_KOREAN, *_FRENCH, *_GERMAN, *_SPANISH, *_PORTUGUESE,
         *_ITALIAN, *_RUSSIAN, *_OTHERS)
    )
)  # fmt: skip
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
    return _PHRASES.search(said) is not None or _WHOLE.fullmatch(said.strip(" .!。！")) is not None


def written_out(text: str) -> str:
    """Lower case, with English contractions written out and runs of white space made one."""
    text = " ".join(text.lower().replace("’", "'").split())
    text = text.replace("cannot", "can not").replace("i'm ", "i am ").replace("it's ", "it is ")
    return _NOT.sub(lambda match: f"{'can' if match[1] == 'ca' else match[1]} not", text)
