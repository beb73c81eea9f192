-- Damaged ledgers that were set aside and whose rows of `withheld` are here, by the names of their files.
CREATE TABLE taken_over (name TEXT PRIMARY KEY) STRICT;
