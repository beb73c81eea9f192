-- How memories are used: numbers and ids, no text.
CREATE TABLE usage (
    workspace TEXT NOT NULL,            -- its real path
    memory TEXT NOT NULL,
    access_count INTEGER NOT NULL,
    touched_at REAL,                    -- seconds since 1970, UTC; null: never
    tier TEXT NOT NULL CHECK (tier IN ('core', 'working', 'peripheral')),
    judged_at REAL NOT NULL,            -- when that was its tier, likewise
    importance REAL NOT NULL,           -- of its line then
    is_pinned INTEGER NOT NULL,         -- then
    missing_since REAL,                 -- no line states it any more; null: one does
    PRIMARY KEY (workspace, memory)
) STRICT, WITHOUT ROWID;
