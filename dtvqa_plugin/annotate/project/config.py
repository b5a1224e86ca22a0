"""A project's ``config.yaml``: read strictly, so that a misspelt field is one error naming it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.data.splits import SET_NAME, taken_name
from dtvqa_plugin.ocr.text_files import FORMATS

SCHEMA = 1

Name = Annotated[str, Field(pattern=SET_NAME)]
"""A name that is valid in a path, a file name and a subset's title."""


class Strict(BaseModel):
    """A mapping that has these fields and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Ocr(Strict):
    """Where a source's recognised text comes from, and whether the prompt includes it."""

    origin: Literal["none", "rapidocr", "file"] = Field("none", alias="from")
    format: str | None = None
    file: str | None = None
    in_prompt: bool = True
    max_lines: int = Field(300, ge=1)

    @model_validator(mode="after")
    def _file_needs_format(self) -> Ocr:
        if self.origin == "file" and (self.format is None or self.file is None):
            raise ValueError(f"from: file needs 'file' and 'format' ({', '.join(FORMATS)})")
        if self.origin != "file" and (self.format or self.file):
            raise ValueError("'file' and 'format' need from: file")
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(f"no format {self.format!r} (known: {', '.join(FORMATS)})")
        return self


class Source(Strict):
    """A folder of images of one style. ``type`` goes to the released field of that name."""

    name: Name
    images: str
    style: Name
    ocr: Ocr = Field(default_factory=lambda: Ocr.model_validate({}))
    type: str = "custom"


class Price(Strict):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Endpoint(Strict):
    """An OpenAI-compatible endpoint. ``key_env`` names a variable; a key itself stands nowhere."""

    model: str = Field(min_length=1)
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"
    price: Price | None = None
    concurrency: int = Field(4, ge=1, le=256)
    requests_per_minute: float | None = Field(None, gt=0)
    timeout: float = Field(120, gt=0)
    retries: int = Field(5, ge=0, le=20)
    max_output_tokens: int = Field(1000, ge=1)
    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: float | None = Field(None, ge=0)
    extra: dict[str, Any] = Field(default_factory=dict)

    @field_validator("key_env")
    @classmethod
    def _a_variable(cls, value: str) -> str:
        # The value is not repeated: it may be a key put here by mistake.
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", value):
            raise ValueError(
                "must be the NAME of an environment variable, in capitals (never a key itself)"
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"https?://[^@\s]+$", value):
            raise ValueError("must begin with http:// or https:// and hold no user or key")
        return value


class Round(Endpoint):
    """One pass over the images by one model; ``styles`` limits it (the paper: GPT-4V, scenes)."""

    name: Name
    pairs: int = Field(5, ge=1, le=50)
    styles: list[Name] | None = None
    image_side: int = Field(2048, ge=64)
    structured: Literal["auto", "schema", "tool", "off"] = "auto"


class Check(Strict):
    """Limits of the checks; ``text_only`` is asked the questions without the image."""

    ocr_threshold: float = Field(85, ge=0, le=100)
    duplicate_threshold: float = Field(90, ge=0, le=100)
    max_answer_words: int = Field(10, ge=1)
    text_only: Endpoint | None = None


class AnswerLabels(Strict):
    """Words that mark questions, answers and notes in answers, beside those that are known."""

    questions: list[str] = Field(default_factory=list)
    answers: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @field_validator("questions", "answers", "notes")
    @classmethod
    def _words(cls, value: list[str]) -> list[str]:
        if any(not word.strip() or len(word) > 40 or "\n" in word for word in value):
            raise ValueError("a label is a word or two of at most 40 characters")
        return [word.strip() for word in value]


class Review(Strict):
    """``target``: accepted questions wanted of each style (the paper: 300)."""

    target: int = Field(300, ge=1)


class Config(Strict):
    """The whole config. ``name`` titles the question set and its scores."""

    schema_: Literal[1] = Field(1, alias="schema")
    name: Name
    description: str = ""
    sources: list[Source] = Field(min_length=1)
    rounds: list[Round] = Field(min_length=1)
    labels: AnswerLabels = Field(default_factory=lambda: AnswerLabels.model_validate({}))
    check: Check = Field(default_factory=lambda: Check.model_validate({}))
    review: Review = Field(default_factory=lambda: Review.model_validate({}))

    @field_validator("name")
    @classmethod
    def _not_ours(cls, value: str) -> str:
        why = taken_name(value)
        if why:
            raise ValueError(why)
        return value

    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        for what, names in (
            ("sources", [source.name for source in self.sources]),
            ("rounds", [turn.name for turn in self.rounds]),
        ):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise ValueError(f"two {what} are named {sorted(twice)[0]!r}")
        styles = {source.style for source in self.sources}
        for turn in self.rounds:
            unknown = set(turn.styles or ()) - styles
            if unknown:
                raise ValueError(
                    f"round {turn.name!r} names style {sorted(unknown)[0]!r}, "
                    f"which no source has (known: {', '.join(sorted(styles))})"
                )
        return self


class Style(Strict):
    """How a style's images are asked about: ``styles/NAME.yaml`` of the project.

    ``instruction`` holds ``{pairs}``; ``with_ocr`` is added where text is given, at ``{ocr}``.
    """

    title: str
    instruction: str
    with_ocr: str

    @model_validator(mode="after")
    def _has_its_places(self) -> Style:
        if "{pairs}" not in self.instruction:
            raise ValueError("'instruction' lacks {pairs}, the number of pairs to ask for")
        if "{ocr}" not in self.with_ocr:
            raise ValueError("'with_ocr' lacks {ocr}, the place of the recognised text")
        return self


def read_config(path: Path) -> Config:
    """Read ``config.yaml``. Raises `AnnotateError` naming the file, the field and the cure."""
    config: Config = _read(path, Config)
    return config


def read_style(path: Path) -> Style:
    """Read a style file. Raises `AnnotateError` as `read_config` does."""
    style: Style = _read(path, Style)
    return style


def _read(path: Path, model: type[Any]) -> Any:
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise AnnotateError(f"{path}: expected 'field: value' lines at the top")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise AnnotateError(f"{path}: {_explain(error, model)}") from None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML ships no types
    """Safe YAML in which a field given twice is an error, not the last one's silent victory."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"field {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """The parsed file; anything wrong with it is one `AnnotateError` with its line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise AnnotateError(
            f"{path}: missing; 'dtvqa annotate init' creates a project folder"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise AnnotateError(f"{path}: cannot be read: {error}") from None
    try:
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise AnnotateError(f"{path}: {line}{getattr(error, 'problem', None) or error}") from None


def _explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The first fault in one sentence. Values are not repeated, since one may be a key."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _fields_at(model, first["loc"][:-1])
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
        return f"unknown field {place!r}; {hint}{more}"
    if first["type"] == "missing":
        return f"field {place!r} is missing{more}"
    message = str(first["msg"]).removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    return f"{f'field {place!r}: ' if place else ''}{message}{more}"


def _fields_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    here: type[BaseModel] = model
    for part in place:
        if isinstance(part, int):
            continue
        for name, info in here.model_fields.items():
            if part in (name, info.alias):
                here = _model_in(info.annotation) or here
    return [info.alias or name for name, info in here.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
