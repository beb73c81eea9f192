-- Whether every touch of a memory was a use. Before this was asked, whatever was told counted, so that those counts are
-- taken back when the memory is judged next; `changes` lists it.
ALTER TABLE usage ADD COLUMN is_earned INTEGER NOT NULL DEFAULT 0;
