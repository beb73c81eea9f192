"""A small blocking client of the daemon's socket, for scripts and for memoryctl.

    from memoryd.client import Client

    with Client() as memory:
        for hit in memory.search("which port does the gateway use")["results"]:
            print(hit["path"], hit["startLine"], hit["snippet"])

Replies are the decoded JSON, see memoryd.replies. All calls may raise DaemonNotRunning, NotPermitted,
DeadlineExceeded (no reply within the time-out), NotNow, RequestError with its subclasses, and MemorydError
for a fault of the daemon's own. One Client serves one thread. Only the standard library is imported.
"""

from memoryd.client import conversation_calls, memory_calls, retrieval_calls
from memoryd.client.connection import DaemonConnection


class Client(DaemonConnection):
    """Asks the daemon behind `socket` (default: where a daemon of this user listens).

    This is the table of calls: each is a function of the connection, in the module of its noun.
    """

    health = retrieval_calls.health
    status = retrieval_calls.status
    metrics = retrieval_calls.metrics
    sync = retrieval_calls.sync
    reindex = retrieval_calls.reindex
    reload = retrieval_calls.reload
    events = retrieval_calls.events

    search = retrieval_calls.search
    get = retrieval_calls.get

    start_session = conversation_calls.start_session
    sessions = conversation_calls.sessions
    session_lines = conversation_calls.session_lines
    sync_sessions = conversation_calls.sync_sessions
    forget_session = conversation_calls.forget_session
    remember_session = conversation_calls.remember_session

    forget = memory_calls.forget
    verify = memory_calls.verify
    opinions = retrieval_calls.opinions
    why_opinion = retrieval_calls.why_opinion
    replay_opinions = retrieval_calls.replay_opinions

    entities = retrieval_calls.entities
    entity = retrieval_calls.entity
    merge_entity = retrieval_calls.merge_entity
    split_entity = retrieval_calls.split_entity

    add_turn = conversation_calls.add_turn
    qa_sessions = conversation_calls.qa_sessions
    qa_session = conversation_calls.qa_session
    qa_context = conversation_calls.qa_context
    qa_mark = conversation_calls.qa_mark
    qa_topics = conversation_calls.qa_topics
    qa_stats = conversation_calls.qa_stats

    turn = conversation_calls.turn

    recall = retrieval_calls.recall
    retain = memory_calls.retain
    capture = memory_calls.capture

    memories = memory_calls.memories
    add_memory = memory_calls.add_memory
    search_memories = memory_calls.search_memories
    memory_stats = memory_calls.memory_stats
    get_memory = memory_calls.get_memory
    delete_memory = memory_calls.delete_memory
    why_memory = memory_calls.why_memory
    decay_memories = memory_calls.decay_memories
    pin_memory = memory_calls.pin_memory
    unpin_memory = memory_calls.unpin_memory
    weigh_memory = memory_calls.weigh_memory
    replace_memory = memory_calls.replace_memory
    export_memories = memory_calls.export_memories
    import_memories = memory_calls.import_memories

    core = memory_calls.core
    core_append = memory_calls.core_append
    core_replace = memory_calls.core_replace
    core_insert = memory_calls.core_insert

    changes = retrieval_calls.changes
    undo = retrieval_calls.undo
    reflect = retrieval_calls.reflect
    proposals = retrieval_calls.proposals
    proposal = retrieval_calls.proposal
    accept_proposal = retrieval_calls.accept_proposal
    reject_proposal = retrieval_calls.reject_proposal
    disagreements = retrieval_calls.disagreements
    settle_disagreement = retrieval_calls.settle_disagreement
