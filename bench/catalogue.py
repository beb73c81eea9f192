"""Every measurement by name, in the order in which they run."""

from bench import (
    bulk,
    commands,
    conversations,
    embedding,
    fresh,
    held,
    hooks,
    idle,
    indexing,
    large,
    latency,
    qmd,
    save,
    scale,
    scanning,
    snippets,
    start,
    turns,
)
from bench.measurement import Measurement
from bench.memories import measured as memories
from bench.memories import opinions, reflecting

MEASUREMENTS = (
    Measurement("start", "daemon start to answering and to ready", start.rows),
    Measurement("save", "a saved note until it is found", save.rows),
    Measurement("fresh", "saved or deleted, and asked for at once", fresh.rows),
    Measurement("held", "hits held against their files, and edits from three threads", held.rows),
    Measurement("snippets", "the lines of a hit that are shown, and those that answer", snippets.rows),
    Measurement("latency", "questions over 5,000 chunks, idle and at work", latency.rows),
    Measurement("embedding", "tokens a second against a bare llama.cpp loop", embedding.rows),
    Measurement("idle", "memory, and processor time while nobody asks", idle.rows),
    Measurement("commands", "memoryctl at the prompt", commands.rows),
    Measurement("hooks", "what a prompt of an agent program waits for its hook", hooks.rows),
    Measurement("indexing", "the first index of 500 files, and its size", indexing.first_index),
    Measurement("edit", "one line on top of a long note", indexing.edit),
    Measurement("large", "one note of 64 MiB, and small ones behind one of 25", large.rows),
    Measurement("scanning", "a scan of 10,000 unchanged files", scanning.rows),
    Measurement("scale", "search by size, width, arm and number of clients", scale.rows),
    Measurement("conversations", "a year of conversations: looking up, adding, starting", conversations.rows),
    Measurement("memories", "10,000 memories: their index, and the book of all of them", memories.rows),
    Measurement("turns", "a message over 10,000 memories, with automatic recall and without", turns.rows),
    Measurement("opinions", "500 opinions, and what 10,000 memories mean for them", opinions.rows),
    Measurement("reflect", "10,000 memories reflected on, once and once more", reflecting.rows),
    Measurement("qmd", "the same questions to qmd and to the builtin index", qmd.rows),
    Measurement("bytes", "100 MB in ten files", bulk.many_bytes, is_slow=True),
    Measurement("long", "one file of 50 MB", bulk.long_file, is_slow=True),
    Measurement("files", "100,000 files", bulk.many_files, is_slow=True),
)
