"""JSON read item by item from bytes, so that memory grows with the largest item only."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from dtvqa_plugin.utils.encoding import UTF8_MARK

_LAST_CHUNK = 1 << 26
_NO_END = "no comma or closing bracket after the previous item"
_BLANK = re.compile(r"[ \t\r\n]*")


class BrokenListError(ValueError):
    """The bytes are no JSON list from some place on; the message is the reason."""


class JsonList:
    """The items of a JSON list, each with its place in the file.

    Iterating yields ``(offset, length, value)``, the first two in bytes, and raises
    `BrokenListError` where the list is damaged. A byte order mark before it is skipped.

    Args:
        read: gives up to so many bytes, b"" at the end, as the ``read`` of an open file does.
        limit: most characters that one item may have, None for no limit.
        chunk: how much is read at a time; within a long item the chunks double.
        pairs: makes an object of its keys and values, dict where it is None.
        number: makes a number with a fraction or an exponent of its text, float where it is None.
        errors: what is done with bytes that are not UTF-8. "surrogateescape" keeps them, and
            ``spoiled`` says whether the last item holds any.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        limit: int | None = None,
        chunk: int = 1 << 18,
        pairs: Callable[[list[tuple[str, Any]]], object] | None = None,
        number: Callable[[str], object] | None = None,
        errors: str = "strict",
    ) -> None:
        self._read = read
        self._limit = limit
        self._first_chunk = self._chunk = chunk
        self._decode = codecs.getincrementaldecoder("utf-8")(errors)
        self._scan = json.JSONDecoder(object_pairs_hook=pairs, parse_float=number).raw_decode
        self._buffer = ""
        self._place = 0
        self._offset = 0
        self._ended = False
        self.spoiled = False

    def __iter__(self) -> Iterator[tuple[int, int, object]]:
        self._skip_mark()
        self._expect("[", "no list")
        if not self._take("]"):
            yield self._item()
            while self._take(","):
                yield self._item()
            self._expect("]", _NO_END)
        if self._next():
            raise BrokenListError("there is text after the closing bracket")

    def _skip_mark(self) -> None:
        start = self._read(len(UTF8_MARK))
        if start == UTF8_MARK:
            self._offset = len(UTF8_MARK)
        else:
            self._feed(start)

    def _feed(self, content: bytes) -> None:
        try:
            text = self._decode.decode(content, not content)
        except UnicodeDecodeError as error:
            raise BrokenListError(f"not UTF-8: {error.reason}") from None
        self._buffer = self._buffer[self._place :] + text
        self._place = 0

    def _more(self) -> bool:
        if self._ended:
            return False
        content = self._read(self._chunk)
        # An item is scanned again from its start: chunks double, so that the cost stays linear.
        self._chunk = min(self._chunk * 2, _LAST_CHUNK)
        self._ended = not content
        self._feed(content)
        return not self._ended

    def _next(self) -> str:
        """Skip blanks; the next character, or nothing at the end."""
        while True:
            found = _BLANK.match(self._buffer, self._place)
            end = self._place if found is None else found.end()
            self._offset += end - self._place
            self._place = end
            if end < len(self._buffer):
                return self._buffer[end]
            if not self._more():
                return ""

    def _take(self, character: str) -> bool:
        if self._next() != character:
            return False
        self._place += 1
        self._offset += 1
        return True

    def _expect(self, character: str, otherwise: str) -> None:
        if not self._take(character):
            cut = not self._next() and character == "]"
            raise BrokenListError("cut off: no closing bracket" if cut else otherwise)

    def _item(self) -> tuple[int, int, object]:
        self._next()
        while True:
            try:
                value, end = self._scan(self._buffer, self._place)
            except (ValueError, RecursionError) as error:
                size = len(self._buffer) - self._place
                if (self._limit is None or size <= self._limit) and self._more():
                    continue
                if self._limit is not None and size > self._limit:
                    raise BrokenListError(f"over {self._limit:,} characters long") from None
                raise BrokenListError(reason(error)) from None
            if end == len(self._buffer) and self._more():
                continue  # a number may continue
            text = self._buffer[self._place : end]
            try:
                length = len(text.encode("utf-8"))
                self.spoiled = False
            except UnicodeEncodeError:
                length = len(text.encode("utf-8", "surrogateescape"))
                self.spoiled = True
            offset = self._offset
            self._place = end
            self._offset += length
            self._chunk = self._first_chunk
            return offset, length, value


class JsonValues(JsonList):
    """The values of JSON texts that stand one after another, of lists their items.

    Blanks, line ends, commas or nothing may stand between two values, or two objects of a list, and
    a comma after the last item of a list: none of these makes a value another one.
    """

    def __iter__(self) -> Iterator[tuple[int, int, object]]:
        self._skip_mark()
        while self._next():
            if self._take("["):
                yield from self._items()
            else:
                yield self._item()
            self._take(",")

    def _items(self) -> Iterator[tuple[int, int, object]]:
        if self._take("]"):
            return
        yield self._item()
        while self._take(",") or self._next() == "{":
            try:
                item = self._item()
            except BrokenListError:
                if self._take("]"):
                    return
                raise
            yield item
        self._expect("]", _NO_END)


def reason(error: Exception) -> str:
    """Why a JSON text could not be read, in a few words."""
    if isinstance(error, json.JSONDecodeError):
        return _other_notation(error.doc, error.pos) or error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


_PYTHON = {"None": "null", "True": "true", "False": "false"}
_NUMBER = re.compile(r"[-+]?(nan|inf(inity)?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d]\w*")
_BARE_KEY = re.compile(r"[^\W\d]\w*\s*:")
_TRAILING_COMMA = re.compile(r",\s*[}\]]")
_AROUND = 200


def _other_notation(text: str, place: int) -> str | None:
    """What stands at a place of a text that is almost JSON, None where it is nothing known."""
    rest = text[place : place + _AROUND].lstrip()
    before = text[max(0, place - _AROUND) : place].rstrip()
    word = _WORD.match(rest)
    if rest.startswith("'"):
        return "single quotes, as in Python's notation"
    if word and word[0] in _PYTHON:
        return f"{word[0]} where JSON has {_PYTHON[word[0]]}, as in Python's notation"
    if number := _NUMBER.match(rest):
        return f"{number[0]} where JSON has null or a number"
    if _TRAILING_COMMA.match(rest) or (before.endswith(",") and rest[:1] in ("}", "]")):
        return "a comma before the closing bracket"
    if rest[:1] in tuple("“”„‟‘’«»＂"):  # what is looked for
        return "typographic quotes"
    if rest.startswith(("//", "/*", "#")):
        return "a comment, which JSON does not have"
    if text[place : place + 1] in ("\r", "\n"):  # JSON says: invalid control character
        return "a line break inside a text" if rest else "cut off inside a text"
    if before.endswith(("{", ",")) and _BARE_KEY.match(rest):
        return "a key without quotes"
    return None
