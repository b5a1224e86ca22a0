"""Acc hits that the output takes back: negated and hedged ones (a heuristic of ours).

Containment credits ``not 12g`` and ``12g or 15g`` for ``12g``. The rule looks at the words around
the matched answer, in the same clause. Its precision and recall on labelled outputs are in
``tests/report/test_output_heuristics.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from dtvqa_plugin.analysis.refusals import is_refusal, written_out

Stance = Literal["plain", "hedged", "negated"]

_ANSWER = "\ufffc"
"""Stands for the matched answer, so that its own words are not read as the output's."""

_FILLER = r"(?:(?:the|a|an|exactly|really|to be|be|it|is|that|say|says|read|go to|called|at|in) )*"
_NEGATED_BEFORE = re.compile(
    rf"(?:\b(?:not|never|neither|nor|instead of|rather than|other than|no longer|except) {_FILLER}"
    rf"|\bneither (?:\S+ ){{1,4}}nor {_FILLER}"
    r"|\bno (?:mention|sign) of (?:the |a )?"
    r"|(?:(?<!是)不是|并非|并不是|而非|绝非|不叫|没有(?:写|显示|提到|提及|说|标)?|不等于)[“\"「]?"
    r"|\bnicht (?:der |die |das )?|\bkein\w* "
    r"|\b(?:n['’]est|ne sont|ce n['’]est) pas (?:le |la |les |de )?|\bno (?:es|era|dice) "
    r"|\bn[ãa]o (?:é|era) |\bnon (?:è|era) |(?:^|\W)не )[\"'“‘(]?\Z"
)
_NEGATED_AFTER = re.compile(
    r"\A[\"'”’)]? ?(?:(?:is|was|would be|are) (?:\w+ly )?(?:wrong|incorrect|false|crossed out"
    r"|not (?:listed|mentioned|written|given|visible|correct"
    r"|right"
    r"|the answer|what|shown|there|on|in|it\b))"
    r"|(?:是|为)?(?:错误?的|不对|不正确|错的)|(?:では|じゃ)(?:ない|ありません)|(?:이|가) 아(?:닙"
    r"|니))"
)
_CONTRAST = re.compile(r"\b(?:but|however|though|although|yet|still)\b|但|不过|然而|可是")
_UNSURE_WHETHER = re.compile(
    r"\b(?:whether|if) (?:it|this|that|the \w+) (?:\w+ )?\Z|\b(?:whether|if) (?:\w+ ){0,4}\Z"
)
_MAYBE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|i (?:would )?guess|my (?:best )?guess"
    r"|(?:most|very|quite|is|but) likely|likely (?:to be|says|reads|it|the)|if i (?:read|see)"
    r"|as far as i can|from what i can|assuming|(?:may|might|could)(?: well)? (?:be|say|read"
    r"|have been)"
    r"|i (?:think|believe|suppose|assume)|had to guess|not (?:\w+ly )?(?:sure|certain)|unsure"
    r"|uncertain"
    r"|hard to (?:tell|say|read)|unclear (?:whether|if)|can not (?:\w+ )?(?:tell|read|say|determine"
    r"|see)"
    r" (?:whether|if|which)|peut[- ]être|probablement|vielleicht|möglicherweise|wahrscheinlich"
    r"|quizás?|tal vez|probablemente|talvez|provavelmente|forse|probabilmente)\b"
    r"|возможно|наверное|вероятно|может быть"
    r"|可能(?!含|会|导致|引起|造成)|也许|或许|大概|大约是|估计|好像|看起来像|貌似|似乎|应该是"
    r"|不确定|不太确定|猜|说不定"
    r"|かもしれ|おそらく|たぶん|多分|だろう|でしょう|아마|일 수도|인 것 같|같습니다"
)
_OR = (
    r"(?:,? ?(?:or|oder|или|아니면|또는|혹은|أو|veya|hoặc|atau|หรือ|या)\b ?|[,，]?(?:或者?是?|还是)"
    r"|または|か(?=\S)|それとも|もしくは)"
)
_OR_AFTER = re.compile(rf"\A[\"'”’)]?(?: ?\([^()]*\))? ?{_OR}[^\s.。!?？]")
_OR_BEFORE = re.compile(rf"\S ?{_OR}(?:the |a |an |maybe |perhaps )?[\"'“‘(]?\Z")
_SHORT_OR = re.compile(r"\A (?:o|ou|u) (\S+)|(\S+) (?:o|ou|u) \Z")
_SLASH_AFTER = re.compile(r"\A ?/ ?(\d[\d.,]*) ?([^\W\d_]+)")
_SLASH_BEFORE = re.compile(r"(\d[\d.,]*) ?([^\W\d_]+) ?/ ?\Z")
_QUANTITY = re.compile(r"(\d[\d.,]*) ?([^\W\d_]+)\Z")
_CLAUSE_END = re.compile(r"[.;!?。；！？\n](?=\s|\Z|[^\x00-\x7f])|[,，:：] ?")
_SENTENCE_END = re.compile(r"[.;!?。；！？\n](?=\s|\Z|[^\x00-\x7f])")
_NEAR = 200
"""Characters on either side of the answer that are looked at."""

MOST_PLACES = 20
"""Places of the answer that are looked at: in a longer output the first ones tell."""


def stance(text: str, answer: str, question: str = "") -> Stance:
    """How an output that contains a reference answer stands to it.

    Args:
        text: the output as it is scored.
        answer: the matched reference answer.
        question: a repetition of it in the output is not read.

    Returns:
        ``negated`` if every place of the answer is denied, ``hedged`` if the output offers another
        answer beside it or says that it is not sure, else ``plain``; ``plain`` without a hit.
    """
    said = written_out(text)
    if question:
        said = said.replace(written_out(question), " ")
    wanted = written_out(answer)
    if not wanted or wanted not in said or said == wanted:
        return "plain"
    places = list(_places(said, wanted))
    if all(_is_negated(before, after) for before, after in places):
        return "negated"
    if any(_is_hedged(before, after, wanted) for before, after in places):
        return "hedged"
    return "plain"


def _places(said: str, wanted: str) -> Iterator[tuple[str, str]]:
    """What stands before and after each place of the answer; other places become one character."""
    start = said.find(wanted)
    for _ in range(MOST_PLACES):
        if start < 0:
            return
        end = start + len(wanted)
        before, after = said[max(0, start - _NEAR) : start], said[end : end + _NEAR]
        yield before.replace(wanted, _ANSWER), after.replace(wanted, _ANSWER)
        start = said.find(wanted, end)


def _is_negated(before: str, after: str) -> bool:
    clause = _last_part(_CLAUSE_END, before)
    return bool(_NEGATED_BEFORE.search(clause) or _NEGATED_AFTER.match(after))


def _is_hedged(before: str, after: str, wanted: str) -> bool:
    if re.match(r"[\"'”’)]? ?[?？]\W*\Z", after) and not before.endswith(("? ", "？")):
        return True
    if (
        _OR_AFTER.match(after)
        or _OR_BEFORE.search(before)
        or _is_numbers_choice(before, after, wanted)
    ):
        return True
    sentence = _last_part(_SENTENCE_END, before)
    rest = _SENTENCE_END.split(after, maxsplit=1)[0]
    if _MAYBE.search(sentence) or _MAYBE.search(rest):
        return True
    return _is_guess_after_refusal(before)


def _is_guess_after_refusal(before: str) -> bool:
    """The output declines first, and no contrast ("but it is") stands before the answer."""
    if re.search(r"\b(?:more|else|other|beyond) than\b|\banything but\b", before):
        return False
    if _UNSURE_WHETHER.search(before) and is_refusal(before):
        return True
    return is_refusal(before) and _CONTRAST.search(before) is None


def _is_numbers_choice(before: str, after: str, wanted: str) -> bool:
    """``12g/15g``, ``12 o 15``: two amounts of one unit, or two numbers beside a short "or"."""
    short = _SHORT_OR.search(after) or _SHORT_OR.search(before)
    if short and wanted[:1].isdigit() and (short[1] or short[2])[:1].isdigit():
        return True
    own = _QUANTITY.match(wanted)
    other = _SLASH_AFTER.match(after) or _SLASH_BEFORE.search(before)
    return bool(own and other and own[2] == other[2] and own[1] != other[1])


def _last_part(end: re.Pattern[str], before: str) -> str:
    return end.split(before)[-1]
