"""Reasons why something was not found, recalled, captured or indexed, one row per reason.

The texts are part of the API, and are written nowhere else; callers fill in `{}`. The reason for an empty answer is
in `memory/recall/answer.py:why_nothing`.
"""

from enum import StrEnum
from typing import Self


class SkipReason(StrEnum):
    """A reason, whose value is its text; `stage` is the step that applies it: search, recall, capture or index."""

    stage: str

    def __new__(cls, stage: str, text: str) -> Self:
        """Create a member from its stage and text."""
        row = str.__new__(cls, text)
        row._value_, row.stage = text, stage
        return row

    __repr__ = str.__repr__

    @property
    def code(self) -> str:
        """Name of the reason in lower case, which stays the same when the text changes."""
        return self.name.lower()

    BEYOND_MAX_RESULTS = "search", "it is beyond maxResults"
    BELOW_MIN_SCORE = "search", "it scores below minScore {:g} and holds no word of the question"
    CHANGED = "search", "it has changed, and was not read again yet"
    IN_DOUBT = "search", "it may be private: the rules are being changed"
    OUT_OF_SIGHT = "search", "it is out of sight with its folder or disk"
    LATE = "search", "its disk did not answer in time"
    GONE = "search", "it was deleted, and there was no time to search for a replacement"
    UNREADABLE_NOW = "search", "it cannot be read: {}"

    BEYOND_K = "recall", "it is beyond k"
    SAME_AS_MEMORY = "recall", "it says the same as a memory in the answer"
    SAME_AS_ANOTHER = "recall", "it says the same as another item in the answer"
    NOT_STANDING = "recall", "its file no longer has the line that was read"
    BEYOND_BUDGET = "recall", "it is beyond the budget: {} tokens, and {} are left"
    REPEATED = "recall", "it is in the stable block"
    UNCHANGED = "recall", "it has the version of ifNoneMatch"
    NEWER_PINNED = "recall", "newer pins of its kind were captured"
    RECALL_OFF = "recall", "automatic recall is off: agents.defaults.memory.auto_recall is false"
    NOBODY_ASKS = "recall", "nothing is recalled for what cron jobs, heartbeats and the system say"
    UNREAD = "recall", "this answer is not read: memories are recalled with the next one"
    FAILED_BEFORE = "recall", "nothing is recalled for a failure that says nothing of its own, or the same again"
    NOT_ASKED = "recall", "nothing was asked"
    NO_TURN = "recall", "a command is no turn"
    NO_CONTENT = "recall", "the message has no word that a memory could answer"
    SMALL_TALK = "recall", "the message acknowledges, greets or says how someone feels"
    ABOUT_OUTPUT = "recall", "the message is about what the agent said or did last"
    ARITHMETIC = "recall", "the message is a calculation"
    PASTED_OUTPUT = "recall", "the message is output or code, pasted"
    BELOW_NOISE = "recall", "it is not above the noise of these notes"

    CAPTURE_OFF = "capture", "memory.capture.enabled is false"
    WITHHELD = "capture", "this session is not to be remembered"
    NOT_FROM_USER = "capture", "it was said by the {}, and not by the user"
    SUBAGENT = "capture", "it was said to a sub-agent"
    OWN_CHANNEL = "capture", "it comes from the channel {}"
    IN_GROUP = "capture", "others take part in this chat (memory.capture.inGroups)"
    MESSAGE_TOO_LONG = "capture", "it is longer than what a person says in one message"
    UNWANTED = "capture", "it is not to be remembered, as it says"
    TASK_TEXT = "capture", "it is text to work on"
    PLAY = "capture", "it is play, or a supposition"
    JOKE = "capture", "it is a joke, as it says"
    PASTED = "capture", "it is pasted, and may be another person's words"
    OTHER_COMPANY = "capture", "the text beside it may make it another person's words, or text to work on"
    LAID_OUT = "capture", "it is laid out as something pasted"
    SENTENCE_TOO_LONG = "capture", "it is too long for one statement"
    QUESTION = "capture", "it is a question"
    SECRET = "capture", "what it says is a secret"
    CONDITION = "capture", "it is a condition, or a supposition"
    REPORTED = "capture", "it may be another person's words"
    UNREAL = "capture", "it is unreal, of the moment, or of a text or a program"
    NO_FORM = "capture", "it has none of the forms that are kept"
    NO_VALUE = "capture", "it states nothing lasting in this form"
    IDENTIFIERS_OFF = "capture", "memory.capture.identifiers is false"
    NOBODYS = "capture", "it does not say whose number or address it is"
    NOT_TO_PASS_ON = "capture", "it is not to be passed on, as it says"
    NOTHING_CORRECTED = "capture", "there was no answer before it to correct"
    NOTHING_REVISED = "capture", "no memory here says what it revises, or too many do"
    FROM_ANSWER = "capture", "it repeats the answer before it"
    ECHO = "capture", "it repeats what was recalled in this session"
    FORGOTTEN = "capture", "its owner had this forgotten"
    TAKEN_BACK = "capture", "its owner took it back"
    TOO_MANY = "capture", "a message gives at most {} memories"
    UNSURE = "capture", "the text model is less sure of it than {}"
    OTHER_LANGUAGE = "capture", "it is in another language than the message"
    CUT_OFF = "capture", "the text model did not finish it"
    FIRST_PERSON = "capture", "it is not in the third person"
    INVENTED = "capture", "it says what the message does not"
    INVERTED = "capture", "it says the contrary of the message"

    SAYS_PRIVATE = "index", "its front matter says memory: false"
    MAY_BE_PRIVATE = "index", "its front matter says memory: but neither true nor false, so that it counts as private"
    OF_PRIVATE = "index", "it is the copy of a conflict, and its original is private"
    NO_PERMISSION = "index", "no permission to read it: chmod u+rX gives it back"
    UNREADABLE = "index", "cannot be read: {}"
    NOT_INDEXABLE = "index", "cannot be indexed ({}); the log has it"
    NOT_REGULAR = "index", "not a regular file"
    TOO_LARGE = "index", "larger than {} ({} bytes)"
    NOT_UTF8 = "index", "its name is not UTF-8"
    SYMLINK = "index", "a symlink, and followSymlinks is off"
    SYMLINK_OUTSIDE = "index", "a symlink that leads out of the workspace"
    SYMLINK_TWICE = "index", "a symlink to a folder that is listed anyway"
    LISTED_TWICE = "index", "a folder that is listed already"
    TOO_DEEP = "index", "more than {} folders deep"
    AMONG_NOTES = "index", "pictures and sounds in the folders of the notes are left out"
    OTHER_BYTES = "index", "its bytes are not those of an {} of a known kind"
    NAME_ONLY = "index", "found by its name only: {}"
    WORDS_ONLY = "index", "a passage in lines {} to {} is found by its words only: {}"
    NO_CITATION = "index", "its name cannot be cited"
    LINKED_TRANSCRIPT = "index", "a symlink"
    NAMED_TWICE = "index", "another folder of this agent has a transcript of this name"
    BEYOND_MAX_BYTES = "index", "not indexed: with newer transcripts it is more than memory.sessions.maxBytes"
    LARGE_LINES = "index", "{:,} of its lines, as read since the start of memoryd, are too large, and left out"
    LONG_LINE = "index", "has a line of more than {} MiB"
    KEEPS_CHANGING = "index", "it is written anew again and again"
    NO_FOLDER = "index", "its folder is not there"
    OTHER_FORMAT = "index", "it is of the format {}"
    UNKNOWN_FORMAT = "index", "its format is unknown"
    NOT_READ_YET = "index", "not read yet"
    SESSION_MARKED = "index", 'marked "do not remember"'
    SESSION_FORGOTTEN = "index", "forgotten"
