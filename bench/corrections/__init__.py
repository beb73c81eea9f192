"""What is told after a person corrected a fact, in sets of invented persons that the real daemon is told and asked.

A set in sets/ has `background.jsonl`, memories of former days (`person`, `day` before today, `text`), and
`scenarios.jsonl`: the `first` statements (`day`, `by` retain or message, `text`), what the agent was `heard` to say
just before, `then` the later message, and `questions` with the texts `want`ed and the `stale` one. A `correction`
outdates the first; of the others both hold.

pairs/ has what the weights of outdated lines are learned from: lines that are `kept`, what the agent was `heard` to
say, the message `then`, and the places of the lines that it `corrects`.
"""
