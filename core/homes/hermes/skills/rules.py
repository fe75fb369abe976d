"""What the agent accepts as a skill: names, frontmatter, sizes, paths inside a folder.

hermes-agent 0.19.0, ``tools/skill_manager_tool.py``; what newer rules change is said at the rule.
Every check raises :class:`RefusedError` with the contract's category, or returns what it read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import yaml

from core.homes.hermes.rules import Rules

MAX_NAME = 64
MAX_DESCRIPTION = 1024
#: Newest rules: a new skill's description, quotes stripped; 1024 stays for rewrites.
MAX_NEW_DESCRIPTION = 60
MAX_CHARACTERS = 100_000
MAX_BYTES = 1_048_576
SKILL_FILE = "SKILL.md"
SUPPORT_FOLDERS = frozenset({"references", "templates", "scripts", "assets"})
#: Longest file name, in bytes, and what the agent's temporary name adds to it.
MAX_FILE_NAME = 255
TEMPORARY = len("." + ".tmp." + "xxxxxxxx")

#: The agent's pattern ends in ``$``, so one trailing line break passes.
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*$")
_CLOSING = re.compile(r"\n---\s*\n")
#: Beyond this nesting, or this many aliases, frontmatter is refused instead of read.
_MAX_DEPTH = 200
_MAX_ALIASES = 1000
_MAX_MERGED = 1000


class RefusedError(Exception):
    """The agent would refuse: the contract's category and one plain sentence."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category
        self.message = message


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The head of a SKILL.md as YAML 1.1 reads it; ``body`` is what follows the closing line."""

    fields: Mapping[Any, Any]
    body: str


def check_name(name: object) -> str:
    """A new skill's name: 1 to 64 characters, ``[a-z0-9]`` then ``[a-z0-9._-]``."""
    if not name:
        raise RefusedError("invalid_name", "The skill has no name.")
    if not isinstance(name, str):
        raise wrong_type("name", name)
    return _pattern("name", name)


def check_category(category: object) -> str:
    """A category's folder, verbatim; ``""`` when there is none.

    The agent strips white space for the check and then uses the text as it is, so a category of
    blanks passes. Raises ``invalid`` for a value that is no text.
    """
    if category is None:
        return ""
    if not isinstance(category, str):
        raise wrong_type("category", category)
    if category.strip():
        _pattern("category", category.strip())
    return category


def check_skill_text(
    text: object, *, new: bool = False, rules: Rules = Rules.V0_19, what: str = "content"
) -> Frontmatter:
    """The text of a SKILL.md: frontmatter, required keys, description length, a body.

    ``new`` is a skill being created: newest rules hold its description to 60 characters.
    """
    if not isinstance(text, str):
        raise wrong_type(what, text)
    head = read_frontmatter(text)
    for key in ("name", "description"):
        if key not in head.fields:
            raise RefusedError("invalid_frontmatter", f"The frontmatter has no {key}.")
    description = head.fields["description"]
    limit = MAX_DESCRIPTION
    if new and rules is Rules.NEWEST:
        limit = MAX_NEW_DESCRIPTION
        if isinstance(description, str):
            description = description.strip().strip("'\"")
    if shown_length(description, limit) > limit:
        kind = "" if isinstance(description, str) else " (it is not text)"
        raise RefusedError(
            "too_long", f"The description is longer than {limit:,} characters{kind}."
        )
    if not head.body.strip():
        raise RefusedError("invalid_frontmatter", "Nothing follows the frontmatter.")
    return head


def check_size(text: str, what: str) -> None:
    """At most 100,000 characters."""
    if len(text) > MAX_CHARACTERS:
        raise RefusedError(
            "too_large",
            f"{what} would have {len(text):,} characters; the limit is {MAX_CHARACTERS:,}.",
        )


def check_support_text(text: object, what: str) -> str:
    """A support file's text: at most 1 MiB as UTF-8, then at most 100,000 characters."""
    if not text and text != "":
        raise RefusedError("missing_argument", "There is no file_content.")
    if not isinstance(text, str):
        raise wrong_type("file_content", text)
    size = len(encode(text, "file_content"))
    if size > MAX_BYTES:
        raise RefusedError("too_large", f"{what} would have {size:,} bytes; the limit is 1 MiB.")
    check_size(text, what)
    return text


def check_file_path(path: object) -> str:
    """A path inside a skill's folder, normalised: ``./references/a.md`` is ``references/a.md``."""
    if not isinstance(path, str):
        raise wrong_type("file_path", path)
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise RefusedError("path_traversal", "The file path climbs out with '..'.")
    if parts and parts[-1] == SKILL_FILE and len(parts) <= 2:
        return "/".join(parts).replace("//", "/")
    if not parts or parts[0] not in SUPPORT_FOLDERS:
        folders = ", ".join(sorted(SUPPORT_FOLDERS))
        raise RefusedError("path_not_allowed", f"The file path must begin with one of: {folders}.")
    if len(parts) < 2:
        raise RefusedError("path_is_directory", "The file path names a folder, not a file.")
    return "/".join(parts)


def read_frontmatter(text: str) -> Frontmatter:
    """Split and parse a SKILL.md's head. Raises ``invalid_frontmatter`` for what is none.

    Text past the size limit is ``too_large`` at once where its head alone is past it.
    """
    if not text.strip():
        raise RefusedError("invalid_frontmatter", "The text is empty.")
    text = text.lstrip("\ufeff")
    if not text.startswith("---"):
        raise RefusedError("invalid_frontmatter", "The text does not start with a '---' line.")
    closing = _CLOSING.search(text, 3)
    if closing is None:
        raise RefusedError("invalid_frontmatter", "The frontmatter has no closing '---' line.")
    head = text[3 : closing.start()]
    check_size(head, "The frontmatter")
    try:
        fields = yaml.load(head, Loader=_Loader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as problem:
        raise RefusedError(
            "invalid_frontmatter", f"The frontmatter cannot be read as YAML{_where(problem)}."
        ) from None
    if not isinstance(fields, dict):
        raise RefusedError("invalid_frontmatter", "The frontmatter is no mapping of keys.")
    return Frontmatter(fields, text[closing.end() :])


def encode(text: str, field: str) -> bytes:
    """``text`` as UTF-8. Raises ``invalid`` for half characters, which no file can hold."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise RefusedError(
            "invalid",
            f"{field} holds half a character (U+{ord(text[problem.start]):04X}) "
            "that UTF-8 cannot store.",
        ) from None


def shown_length(value: object, stop: int) -> int:
    """``len(str(value))``, but never more work than ``stop`` characters are worth.

    Aliases make a short text stand for millions of items: counting ends at ``stop``. One that
    stands for what it lies in is shown as ``[...]``.
    """
    if isinstance(value, str):
        return len(value)
    total = 0
    todo: list[tuple[object, frozenset[int]]] = [(value, frozenset())]
    while todo and total <= stop:
        item, above = todo.pop()
        if id(item) in above:
            total += len("[...]")
            continue
        inside = above | {id(item)}
        if isinstance(item, dict):
            total += 2 + 2 * max(len(item) - 1, 0) + 2 * len(item)
            todo += [(part, inside) for pair in _some(item.items(), stop) for part in pair]
        elif isinstance(item, list | tuple | set):
            total += 2 + 2 * max(len(item) - 1, 0)
            todo += [(part, inside) for part in _some(item, stop)]
        else:
            total += _scalar_length(item, stop, bare=item is value)
    return total


def wrong_type(field: str, value: object) -> RefusedError:
    """The refusal for a field of a type on which the agent fails."""
    return RefusedError("invalid", f"{field} is {_kind(value)} where text is needed.")


class _Loader(yaml.SafeLoader):
    """The agent's own YAML 1.1 loader, held to a depth and a number of aliases."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            self._aliases += 1
        self._depth += 1
        if self._depth > _MAX_DEPTH or self._aliases > _MAX_ALIASES:
            raise yaml.YAMLError("nested too deep, or too many aliases")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > _MAX_MERGED:
            raise yaml.YAMLError("too many merged keys")


def _pattern(field: str, text: str) -> str:
    if field == "category" and ("/" in text or "\\" in text):
        raise RefusedError("invalid_name", "The category must be one folder name.")
    if len(text) > MAX_NAME:
        raise RefusedError("too_long", f"The {field} is longer than {MAX_NAME} characters.")
    if not _NAME.match(text):
        raise RefusedError(
            "invalid_name",
            f"The {field} may hold a-z, 0-9, dot, dash and underscore, a letter or digit first.",
        )
    return text


def _some(items: Any, stop: int) -> list[Any]:
    found = []
    for number, item in enumerate(items):
        if number > stop:
            break
        found.append(item)
    return found


def _scalar_length(value: object, stop: int, *, bare: bool) -> int:
    try:
        return len(str(value) if bare else repr(value))
    except ValueError:  # an integer with more digits than Python writes out
        return stop + 1


def _where(problem: Exception) -> str:
    mark = getattr(problem, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark is not None else ""


def _kind(value: object) -> str:
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "true or false"),
        ((int, float), "a number"),
        (list, "a list"),
        (dict, "an object"),
    )
    for types, word in kinds:
        if isinstance(value, types):
            return word
    return "nothing" if value is None else "no text"
