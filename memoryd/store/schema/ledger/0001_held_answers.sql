-- Answers below the bar, for a week: what a person may still bring back.
CREATE TABLE held_answers (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,               -- of the turn, from 1 in its session
    answer TEXT NOT NULL,
    held_at REAL NOT NULL,              -- seconds since 1970, UTC
    expires_at REAL NOT NULL,
    UNIQUE (agent, session, seq)
) STRICT;
CREATE INDEX held_answers_by_expiry ON held_answers (expires_at);
CREATE INDEX held_answers_by_age ON held_answers (agent, held_at);
