"""What the agent's own words mean: one ordered table from its messages to the contract's words.

Written against hermes-agent 0.19.0. The first pattern found decides. An exception counts as a
message ``raised <type>: <text>``; which word stands for it is argued beside its row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: A batch refusal ends with this, so text quoted from the proposal cannot be taken for it.
_BATCH = r"\. No operations were applied \(batch is all-or-nothing\)\.\Z"

MEMORY: tuple[tuple[str, str], ...] = (
    # A field of the wrong type: 0.19 calls text methods on it.
    (r"\Araised (AttributeError|TypeError): ", "invalid"),
    # The store is opened before the record is looked at; strict UTF-8.
    (r"\Araised UnicodeDecodeError: ", "unreadable_target"),
    # A lone surrogate is found out only when the file is encoded: a value no file can hold.
    (r"\Araised UnicodeEncodeError: ", "invalid"),
    (r"\Araised RuntimeError: Failed to write memory file ", "io_error"),
    (r"\Araised (\w*Error): \[Errno ", "io_error"),
    (r"\A(Content|old_text|new_content) cannot be empty\.", "empty"),
    (r"\A(Operation \d+: )?Blocked: content contains invisible ", "threat_invisible_unicode"),
    (r"\A(Operation \d+: )?Blocked: content matches threat ", "threat_pattern"),
    (r"\ARefusing to write \w+\.md: ", "external_drift"),
    (r"\ANo entry matched '", "no_match"),
    (r"\AMultiple entries matched '", "ambiguous"),
    (r"\AMemory at [\d,]+/-?[\d,]+ chars\. Adding ", "over_budget"),
    (r"\AReplacement would put memory at ", "replace_over_budget"),
    (r"\AAfter applying all \d+ operations, ", "batch_over_budget"),
    (r"\Aoperations list is empty\.", "batch_empty"),
    (
        r"(content|old_text) is required( \(use action='remove' to delete\))?" + _BATCH,
        "batch_missing_field",
    ),
    (r": unknown action\. Use add, replace, or remove" + _BATCH, "batch_unknown_action"),
    (r"' matched multiple distinct entries -- be more specific" + _BATCH, "batch_ambiguous"),
    (r": no entry matched '.*'" + _BATCH, "batch_no_match"),
    (r"\AUnknown staged action '", "unknown_action"),
)

SKILLS: tuple[tuple[str, str], ...] = (
    (r"\Araised (AttributeError|TypeError|UnboundLocalError): ", "invalid"),
    # The file a patch, rewrite or overwrite starts from is read as strict UTF-8.
    (r"\Araised UnicodeDecodeError: ", "undecodable_file"),
    (r"\Araised UnicodeEncodeError: ", "invalid"),
    # YAML 1.1 builds dates and numbers itself; an impossible one leaves the loader as ValueError.
    (r"\Araised (ValueError|OverflowError|RecursionError): ", "invalid_frontmatter"),
    # A circle of links leads nowhere, so not into the skill either.
    (r"\Araised RuntimeError: Symlink loop from ", "path_escape"),
    # The folder meant as a file: unlinked, read or replaced.
    (r"\Araised IsADirectoryError: ", "invalid"),
    (r"\Araised (\w*Error): \[Errno ", "io_error"),
    (r"\A(content|old_string|new_string|file_path|file_content) is required", "missing_argument"),
    (r"\APatch would break SKILL\.md structure: ", "patch_breaks_frontmatter"),
    (r"\ACategory must be a string\.", "invalid"),
    (r"\A(Skill name|Category) exceeds \d+ characters\.", "too_long"),
    (r"\ADescription exceeds \d+ characters\.", "too_long"),
    (r"\ASkill name is required\.", "invalid_name"),
    (r"\AInvalid (skill name|category) '", "invalid_name"),
    (r"\AContent cannot be empty\.", "invalid_frontmatter"),
    (
        r"\ASKILL\.md (must start with YAML|frontmatter is not closed|must have content after)",
        "invalid_frontmatter",
    ),
    (r"\A(YAML frontmatter parse error: |Frontmatter must )", "invalid_frontmatter"),
    (r"\AFile content is [\d,]+ bytes ", "too_large"),
    (r" content is [\d,]+ characters \(limit: 100,000\)\.", "too_large"),
    (r"\AA skill named '.*' already exists at ", "skill_exists"),
    (r"\ASkill '.*' not found in active profile '", "skill_not_found"),
    (r"\APath traversal \('\.\.'\) is not allowed\.", "path_traversal"),
    (r"\APath escapes allowed directory: ", "path_escape"),
    (r"\AFile must be under one of: ", "path_not_allowed"),
    (r"\AProvide a file path, not just a directory\.", "path_is_directory"),
    (r"\AFile not found: ", "file_not_found"),
    (r"\AFile '.*' not found in skill '", "file_not_found"),
    (r"\Aold_string and new_string are identical", "patch_identical"),
    (r"\AFound \d+ matches for old_string\.", "patch_ambiguous"),
    (r"\AEscape-drift detected: ", "patch_escape_drift"),
    (r"\ACould not find a match for old_string", "patch_no_match"),
    (r"\ASecurity scan blocked this skill ", "security_scan_blocked"),
    (r"\ASkill '.*' is pinned and cannot be deleted", "pinned"),
    (r"\Aabsorbed_into='.*' cannot equal the skill being deleted\.", "absorbed_into_self"),
    (r"\Aabsorbed_into='.*' does not exist\.", "absorbed_target_missing"),
    (r"\ARefusing to delete '", "unsafe_target"),
    (r"\AUnknown action '", "unknown_action"),
)

TABLES = {"memory": MEMORY, "skills": SKILLS}


def category(subsystem: str, answer: Mapping[str, Any]) -> str:
    """The contract's word for a refusal the driver saw; ``ok`` for a success.

    ``noop`` is not the agent's word: it calls it a success, and only the bytes tell.
    A message no row knows gives ``?`` and the message, which no outcome of ours equals.
    """
    if answer["success"]:
        return "ok"
    said = answer["message"]
    if answer["raised"]:
        said = "raised {}: {}".format(*answer["raised"])
    for pattern, word in TABLES[subsystem]:
        if re.search(pattern, said, re.DOTALL):
            return word
    return f"? {said}"
