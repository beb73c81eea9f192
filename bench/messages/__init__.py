"""What an agent is told beside ordinary messages: sets of invented persons, played to the real daemon, and scored.

A set in sets/ is a workspace for each person (`ws/PERSON/`), `messages.jsonl` in the order in which they are sent,
and `meta.json`, whose `now` is the day of that: the logs are moved by as many days as have gone since. A message has
its `workspace`, `lang`, `session` (the end of its key), `kind`, `text`, perhaps the `answer` of the agent, and a
`label`. Of one that `needs` something `want` is a list of groups of texts, of each of which one has to be told; each
text stands once in the workspace, and not in MEMORY.md. Beside one that needs `nothing` nothing may be told.

wording/ has messages without a workspace, which say only whether something that is kept is called for.
"""
