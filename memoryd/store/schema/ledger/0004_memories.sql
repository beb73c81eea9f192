-- What the lines of a workspace cannot say of the memories that they state. `workspace` is its real path: agents may
-- share a ledger.

-- When a memory was first seen whose file has no date in its name: days since 1970-01-01.
CREATE TABLE first_seen (
    workspace TEXT NOT NULL,
    memory TEXT NOT NULL,
    day INTEGER NOT NULL,
    PRIMARY KEY (workspace, memory)
) STRICT, WITHOUT ROWID;

-- What was written into a workspace, by whom, and what undoing it takes.
CREATE TABLE changes (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    run TEXT NOT NULL,                  -- of one act that wrote several files
    agent TEXT NOT NULL,                -- empty: the owner, or the daemon by itself
    writer TEXT NOT NULL,
    why TEXT NOT NULL,
    path TEXT NOT NULL,                 -- relative to the workspace
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    state TEXT NOT NULL,                -- intended, done, unknown, undone
    hash_before BLOB NOT NULL,          -- SHA-256 of the file; empty: there was none
    hash_after BLOB NOT NULL,           -- empty: there is none
    hunks TEXT,                         -- the lines that differ, as JSON; null: not kept, so that it cannot be undone
    undoes INTEGER NOT NULL             -- the change that it took back; 0: none
) STRICT;
CREATE INDEX changes_by_time ON changes (workspace, at);
CREATE INDEX changes_unsettled ON changes (workspace) WHERE state = 'intended';

-- Memories that are forgotten, as keyed hashes alone.
CREATE TABLE tombstones (
    workspace TEXT NOT NULL,
    hash BLOB NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    is_pending INTEGER NOT NULL,        -- 1: some of it may still stand somewhere
    PRIMARY KEY (workspace, hash)
) STRICT, WITHOUT ROWID;

-- Every step of the confidence of an opinion, in the order in which they were made.
CREATE TABLE opinion_steps (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    opinion TEXT NOT NULL,              -- id of the memory that states it
    evidence TEXT NOT NULL,             -- id of the memory that speaks for or against it
    label TEXT NOT NULL CHECK (label IN ('reinforce', 'weaken', 'contradict', 'neutral')),
    labelled_by TEXT NOT NULL,          -- the rule, or the model, that said so
    evidence_day INTEGER NOT NULL,      -- days since 1970-01-01
    run TEXT NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    base REAL NOT NULL,                 -- what the lines of the opinion themselves said
    before REAL NOT NULL,
    after REAL NOT NULL,
    UNIQUE (workspace, opinion, evidence, evidence_day, label)
) STRICT;
CREATE INDEX opinion_steps_by_opinion ON opinion_steps (workspace, opinion, id);
CREATE INDEX opinion_steps_by_evidence ON opinion_steps (workspace, evidence);

-- Runs of reflect, the newest of a workspace.
CREATE TABLE reflect_runs (
    id TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    started_at REAL NOT NULL,           -- seconds since 1970, UTC
    ended_at REAL,                      -- null: it was killed, or goes on
    since INTEGER NOT NULL,             -- days since 1970-01-01
    outcome TEXT NOT NULL               -- counts and refusals as JSON; no text of a memory
) STRICT, WITHOUT ROWID;
CREATE INDEX reflect_runs_by_time ON reflect_runs (workspace, started_at);

-- Changes that wait for a person: each of one file, with one sentence why.
CREATE TABLE proposals (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,                   -- of what it changes: the same lines are never proposed twice
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    diff TEXT NOT NULL,                 -- unified
    memories TEXT NOT NULL,             -- ids of what it rests on, with spaces between them
    state TEXT NOT NULL,                -- open, accepted, rejected, outdated
    made_at REAL NOT NULL,              -- seconds since 1970, UTC
    decided_at REAL,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_by_state ON proposals (workspace, state, made_at);
