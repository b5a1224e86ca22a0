"""Removal of a reasoning model's thoughts, one rule for every host.

Containment would score any answer that a thought mentions, so only what stands outside the
thoughts is scored. Marks that nothing else uses are removed; what merely reads like a thought is
left as it is and can be counted (`suspected_reasoning`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = [
    "REASONING_TAGS",
    "REASONING_VERSION",
    "is_truncated_reasoning",
    "split_reasoning",
    "strip_reasoning",
    "suspected_reasoning",
]

REASONING_VERSION = 2
"""Version of the list of notations. It rises when the scored part of some output changes.

1: the blocks of plugin 0.1.0 (``<think>``, ``<thinking>``, ``<thought>``, ``<analysis>``,
``<reasoning>``, ``◁think▷``). 2: Harmony channels, square brackets, special tokens and more names.
"""

REASONING_TAGS = ("think", "thinking", "thought", "analysis", "reasoning")
"""Names of the `<name>...</name>` blocks that are removed since version 1."""

_MORE_TAGS = (
    "reflection", "thoughts", "thought_process", "thinking_process", "chain_of_thought",
    "inner_thought", "inner_thoughts", "inner_monologue", "longcat_think", "antthinking",
)  # fmt: skip
_SOFT_TAGS = ("reason", "rationale", "scratchpad", "cot", "reflect", "思考")
"""Names that texts use in angle brackets for other things, such as a place to fill in."""

_TAG_NAMES = "|".join(sorted((*REASONING_TAGS, *_MORE_TAGS, *_SOFT_TAGS), key=len, reverse=True))
_WORDS = "think(?:ing)?|thoughts?|reasoning"

# No character can be taken by two unbounded parts of the pattern, so matching is linear.
_MARK = re.compile(
    rf"<(?P<close>/?)(?:[a-z][a-z0-9_]{{0,15}}:)?(?P<name>{_TAG_NAMES})(?:[\s/][^<>]*)?>"
    rf"|&lt;(?P<close_entity>/?)(?P<entity>{_TAG_NAMES})&gt;"
    r"|\u25c1(?P<close_triangle>/?)(?P<triangle>think)\u25b7"
    rf"|\[(?P<close_bracket>/?)(?P<bracket>{_WORDS}|analysis|reflection)\]"
    rf"|<\|(?P<close_token>/?)(?P<token>{_WORDS})\|>"
    rf"|<\|(?P<edge>begin|start|end)_(?:of_)?(?P<edged>{_WORDS})\|>"
    rf"|<\|(?P<edged_late>{_WORDS})_(?P<edge_late>begin|start|end)\|>"
    r"|<\|inner_(?P<inner>prefix|suffix)\|>"
    r"|(?P<gemma><\|channel>\s?thought\b)|(?P<gemma_close><channel\|>)"
    r"|<\|im_start\|>\s?(?P<turn>think|answer)\b"
    r"|<\|channel\|>\s?(?P<channel>final|analysis|commentary)(?:\s?<\|constrain\|>\s?\w{0,20})?"
    r"(?:\s?<\|message\|>)?"
    r"|(?P<message><\|message\|>)"
    r"|(?P<turn_end><\|(?:end|return|call|start)\|>)",
    re.IGNORECASE,
)

_SOMETHING = re.compile(r"\S")
_HARMONY = "harmony"
_OPEN, _CLOSE, _EMPTY, _END = "open", "close", "empty", "end"


@dataclass(frozen=True, slots=True)
class _Mark:
    """One mark: a ``soft`` opening counts only if it is closed later, or if the output begins so.

    A ``_CLOSE`` of the Harmony notation is the start of its final channel, an ``_END`` the end of
    a message.
    """

    start: int
    end: int
    name: str
    kind: str
    soft: bool = False


def strip_reasoning(text: str) -> str:
    """Return `text` without its reasoning.

    - A block from an opening mark to the next closing mark of the same name is removed; opening
      marks inside it are part of it. Case and attributes of tags do not matter, and an empty
      element (`<think/>`) is removed.
    - A closing mark outside any block closes what the prompt opened: everything before it goes.
    - An opening that is never closed leaves no answer: the result is empty
      (see `is_truncated_reasoning`). An opening in square brackets, and a tag that texts use for
      other things, counts in this way only at the start of the output.
    - Of Harmony channels the last `final` one stays, also where a decoder dropped the marks
      (`analysis...assistantfinal...`).

    Text without such marks is returned as it is, white space included. Idempotent, and linear
    in the length of the text.

    Args:
        text: The raw output.

    Returns:
        The text to score. Text without marks is unchanged, white space included.
    """
    return split_reasoning(text)[0]


def is_truncated_reasoning(text: str) -> bool:
    """Whether an output ends inside its reasoning, so that it has no answer.

    Args:
        text: The raw output.

    Returns:
        True if `strip_reasoning` leaves nothing for that reason.
    """
    return split_reasoning(text)[1]


def split_reasoning(text: str) -> tuple[str, bool]:
    """Return `strip_reasoning` and `is_truncated_reasoning` of a text, computed once."""
    answer, truncated = _once(text)
    if truncated or answer is text:
        return answer, truncated
    # Only text built to do so ("<thi<think>x</think>nk>") still changes.
    return (answer, False) if _once(answer) == (answer, False) else ("", True)


def _once(text: str) -> tuple[str, bool]:
    given = text
    text, truncated = _unmarked(text)
    if not truncated:
        text, truncated = _marked(text)
    if not truncated and text is not given:
        text, truncated = _unmarked(text)
    return ("", True) if truncated else (text, False)


# --- marked blocks ----------------------------------------------------------------------------


@dataclass(slots=True)
class _Scan:
    """What stands outside the thoughts so far; ``said`` is whether that is more than blanks.

    ``dropping``: the scan is between two Harmony messages.
    """

    text: str
    outside: list[str] = field(default_factory=list)
    position: int = 0
    said: bool = False
    open_name: str | None = None
    dropping: bool = False

    def take(self, mark: _Mark) -> None:
        """Continue after a mark that is not inside a block."""
        if mark.kind == _CLOSE and (self.open_name is None or mark.name == _HARMONY):
            self.outside.clear()
            self.said = False
        elif self.open_name is None and not self.dropping:
            self.outside.append(self.text[self.position : mark.start])
            self.said = self.said or bool(self.outside[-1].strip())
        self.dropping = mark.kind == _END
        self.open_name = mark.name if mark.kind == _OPEN else None
        self.position = mark.end


_MARK_START = re.compile("[<[&\u25c1]")


def _marked(text: str) -> tuple[str, bool]:
    if not _MARK_START.search(text):  # most outputs: a search per character
        return text, False
    marks = list(_marks(text))
    if not marks:
        return text, False
    last_close = {mark.name: mark.start for mark in marks if mark.kind == _CLOSE}
    scan, harmony, final = _Scan(text), False, True
    for mark in marks:
        if scan.open_name is not None and not _ends(scan.open_name, mark):
            continue
        if mark.kind == _END and not harmony:
            continue
        closed = mark.start < last_close.get(mark.name, -1)
        if mark.soft and mark.kind == _OPEN and not (closed or _begins(text, mark, scan)):
            continue
        if mark.name == _HARMONY and mark.kind != _END:
            harmony, final = True, mark.kind == _CLOSE
        scan.take(mark)
    if scan.position == 0:
        return text, False
    if scan.open_name is not None or not final:
        return "", True
    if not scan.dropping:
        scan.outside.append(text[scan.position :])
    return "".join(scan.outside), False


def _ends(open_name: str, mark: _Mark) -> bool:
    """Whether a mark ends the open block; any mark of Harmony's ends its channel."""
    if open_name == _HARMONY:
        return mark.name == _HARMONY
    return mark.kind == _CLOSE and mark.name == open_name


def _begins(text: str, mark: _Mark, scan: _Scan) -> bool:
    """Whether nothing but white space and thoughts stand before a mark, and something after."""
    if scan.said or _SOMETHING.search(text, scan.position, mark.start):
        return False
    upper = not mark.name.startswith("[") or text[mark.start : mark.end].isupper()
    return upper and _SOMETHING.search(text, mark.end) is not None


def _marks(text: str) -> Iterator[_Mark]:
    for match in _MARK.finditer(text):
        mark = _mark(match)
        if mark is not None:
            yield mark


def _mark(match: re.Match[str]) -> _Mark | None:
    """The mark that the pattern found, None for a part of Harmony's that says nothing here."""
    start, end = match.span()
    kind, value = match.lastgroup or "", match[match.lastgroup or 0]
    if match["name"]:
        name = match["name"].lower()
        closing = _CLOSE if match["close"] else _EMPTY if match[0].endswith("/>") else _OPEN
        return _Mark(start, end, f"<{name}", closing, name in _SOFT_TAGS)
    if match["entity"]:
        closing = _CLOSE if match["close_entity"] else _OPEN
        return _Mark(start, end, f"&lt;{match['entity'].lower()}", closing, soft=True)
    if match["triangle"]:
        return _Mark(start, end, "\u25c1", _CLOSE if match["close_triangle"] else _OPEN)
    if match["bracket"]:
        closing = _CLOSE if match["close_bracket"] else _OPEN
        return _Mark(start, end, f"[{match['bracket'].lower()}", closing, soft=True)
    if match["token"]:
        return _Mark(start, end, "<|token", _CLOSE if match["close_token"] else _OPEN)
    if edge := match["edge"] or match["edge_late"]:
        return _Mark(start, end, "<|edge", _CLOSE if edge.lower() == "end" else _OPEN)
    if match["inner"]:
        return _Mark(start, end, "<|inner", _CLOSE if value.lower() == "suffix" else _OPEN)
    if match["gemma"] or match["gemma_close"]:
        return _Mark(start, end, "<|channel>", _OPEN if match["gemma"] else _CLOSE)
    if match["turn"]:
        return _Mark(start, end, "turn", _CLOSE if value.lower() == "answer" else _OPEN)
    if match["channel"]:
        final = match["channel"].lower() == "final"
        return _Mark(start, end, _HARMONY, _CLOSE if final else _OPEN)
    if kind == "message":
        return _channel_of_prompt(match)
    return _Mark(start, end, _HARMONY, _END)


_FIRST_CHANNEL = re.compile(r"\s*(analysis|commentary|final)\s*\Z", re.IGNORECASE)


def _channel_of_prompt(match: re.Match[str]) -> _Mark | None:
    """``analysis<|message|>`` at the very start: the prompt held ``<|channel|>``."""
    if match.start() > 200:
        return None
    before = _FIRST_CHANNEL.match(match.string[: match.start()])
    if before is None:
        return None
    final = before[1].lower() == "final"
    return _Mark(0, match.end(), _HARMONY, _CLOSE if final else _OPEN)


# --- thoughts whose marks a decoder dropped, or that are marked in words -------------------------

_DROPPED_START = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?![_./\\-])")
_DROPPED_UNENDED = re.compile(r"\s*(?:assistant)?analysis[A-Z]\w*\W+(?:\w+\W+){2}\w")
_DROPPED_FINAL = re.compile(r"assistant\n{0,4}final(?![_./\\-])")
_WORDED_START = re.compile(r"\s*here(?: is|['’]s) my thought process:", re.IGNORECASE)
_WORDED_FINAL = re.compile(r"here(?: is|['’]s) my response:", re.IGNORECASE)
_THOUGHT_WORDS = 4


def _unmarked(text: str) -> tuple[str, bool]:
    if _WORDED_START.match(text):
        ends = [match.end() for match in _WORDED_FINAL.finditer(text)]
        return (text[ends[-1] :], False) if ends else ("", True)
    finals = list(_DROPPED_FINAL.finditer(text)) if "assistant" in text else []
    if finals:
        last = finals[-1]
        begun = _DROPPED_START.match(text)
        glued = "\n" not in last[0]
        if begun or (glued and len(text[: last.start()].split()) >= _THOUGHT_WORDS):
            return text[last.end() :], False
    return ("", True) if _DROPPED_UNENDED.match(text) else (text, False)


# --- what reads like a thought, and is left as it is ---------------------------------------------

_LEFT_MARK = re.compile(
    r"<[^<>|]{0,40}(?:think|thought|reason|reflect)[^<>|]{0,40}>"
    r"|\[/?THINK(?:ING)?\]"
    r"|<\|[^<>|]{0,40}(?:think|thought|reason|channel)[^<>|]{0,40}\|?>"
    r"|```\s?(?:think|thought|reason)",
    re.IGNORECASE,
)
_LEFT_MARK_START = re.compile(r"[<\[`]")
_HEADED = re.compile(
    r"[\W_]*(?:(?:my |step-by-step )?(?:thoughts?|thinking|reasoning|analysis|rationale|"
    r"explanation)(?: process)?|chain of thought|(?:思考|推理|分析)(?:过程)?|(?:解题)?思路)"
    r"[\W_]{0,3}[:：\n]",
    re.IGNORECASE,
)
_ALOUD = re.compile(
    r"\W*(?:(?:okay|ok|alright|hmm+|so|well|first|now|got it)\b[,.]? (?:so,? )?(?:let me|let['’]?s|"
    r"i need to|i should|i['’]ll|i have to|the user|we need|the question)"
    r"|let['’]?s (?:think|look|analy[sz]e|see|examine|break)"
    r"|let me (?:think|look|analy[sz]e|see|check|examine|zoom)"
    r"|(?:analysis )?we need to|(?:the )?user (?:is asking|asks|wants|asked)"
    r"|(?:首先|好的|嗯)[，,]?(?:我|用户|让我|需要)|让我(?:们)?(?:先|来|想|看|分析)"
    r"|用户(?:问|想|要求|询问|需要))",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"(?:^|[\s,.])(?:wait|hmm+)[,.!—]? (?:\w+[ ,]){3}", re.IGNORECASE)
_LEAST_WORDS = 6
_LEAST_HAN = 12


def suspected_reasoning(text: str) -> str | None:
    """Signs of reasoning that was not removed (a heuristic).

    It looks for marks similar to known ones, for a heading (``Reasoning:``), and for a beginning in
    which a model speaks to itself. The latter two need more than a short phrase.

    Args:
        text: The text that is scored.

    Returns:
        ``mark``, ``heading`` or ``aloud``; None if there is no sign.
    """
    if _LEFT_MARK_START.search(text) and _LEFT_MARK.search(text):
        return "mark"
    if not _is_long(text):
        return None
    if _HEADED.match(text):
        return "heading"
    return "aloud" if _ALOUD.match(text) or _is_doubt(text) else None


def _is_doubt(text: str) -> bool:
    lowered = text.lower()
    if text.isascii() and "wait" not in lowered and "hmm" not in lowered:
        return False  # most outputs: the pattern is tried at every character
    return _DOUBT.search(text) is not None


def _is_long(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS or (
        not text.isascii()
        and sum("\u3400" <= char <= "\u9fff" for char in text[:200]) >= _LEAST_HAN
    )
