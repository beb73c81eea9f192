-- What was put before an agent for a question: names, counts and verdicts, and no word of it.
CREATE TABLE told_turns (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,            -- its real path
    agent TEXT NOT NULL,
    session TEXT NOT NULL,              -- in which the question is kept
    seq INTEGER NOT NULL,               -- of its turn
    verdict TEXT NOT NULL,              -- of the best of what was recalled
    etag TEXT NOT NULL,                 -- of the stable block
    stable_since INTEGER NOT NULL,      -- the turn of the session since which the block is the same
    stable_tokens INTEGER NOT NULL,     -- estimated, as all of these
    recalled_tokens INTEGER NOT NULL,
    sequence_tokens INTEGER NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    UNIQUE (workspace, agent, session, seq)
) STRICT;

-- Its parts. Those of a stable block stand with the turn since which it is the same.
CREATE TABLE told_parts (
    turn INTEGER NOT NULL REFERENCES told_turns (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,                 -- short id of a memory, else path or citation
    is_stable INTEGER NOT NULL,
    is_told INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    verdict TEXT NOT NULL,              -- empty: nobody judged it
    cut TEXT NOT NULL,                  -- why it was cut, or left out
    judgement TEXT NOT NULL CHECK (judgement IN ('', 'noise', 'wrong')), -- by its owner, for this question
    PRIMARY KEY (turn, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_parts_by_name ON told_parts (name);
