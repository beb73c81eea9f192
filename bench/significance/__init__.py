"""Whether the answers that matter are kept, and no others: labelled answers, held against their significance."""
