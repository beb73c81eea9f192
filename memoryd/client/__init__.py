"""A small blocking client of the daemon's socket, for scripts and for memoryctl.

    from memoryd.client import Client

    with Client() as memory:
        for hit in memory.search("which port does the gateway use")["results"]:
            print(hit["path"], hit["startLine"], hit["snippet"])

Replies are the decoded JSON, see memoryd.replies. All calls may raise DaemonNotRunning, NotPermitted,
DeadlineExceeded (no reply within the time-out), NotNow, RequestError with its subclasses, and MemorydError
for a fault of the daemon's own. One Client serves one thread. Only the standard library is imported.
"""

from memoryd.client import (
    capture_calls,
    change_calls,
    core_calls,
    daemon_calls,
    entity_calls,
    forget_calls,
    memory_calls,
    note_calls,
    opinion_calls,
    qa_calls,
    recall_calls,
    reflect_calls,
    retain_calls,
    session_calls,
    transfer_calls,
    turn_calls,
)
from memoryd.client.connection import DaemonConnection


class Client(DaemonConnection):
    """Asks the daemon behind `socket` (default: where a daemon of this user listens).

    This is the table of calls: each is a function of the connection, in the module of its noun.
    """

    health = daemon_calls.health
    status = daemon_calls.status
    metrics = daemon_calls.metrics
    sync = daemon_calls.sync
    reindex = daemon_calls.reindex
    reload = daemon_calls.reload
    events = daemon_calls.events

    search = note_calls.search
    get = note_calls.get

    start_session = session_calls.start_session
    sessions = session_calls.sessions
    session_lines = session_calls.session_lines
    sync_sessions = session_calls.sync_sessions
    forget_session = session_calls.forget_session
    remember_session = session_calls.remember_session

    forget = forget_calls.forget
    verify = forget_calls.verify
    opinions = opinion_calls.opinions
    why_opinion = opinion_calls.why_opinion
    replay_opinions = opinion_calls.replay_opinions

    entities = entity_calls.entities
    entity = entity_calls.entity
    merge_entity = entity_calls.merge_entity
    split_entity = entity_calls.split_entity

    add_turn = qa_calls.add_turn
    qa_sessions = qa_calls.qa_sessions
    qa_session = qa_calls.qa_session
    qa_context = qa_calls.qa_context
    qa_mark = qa_calls.qa_mark
    qa_topics = qa_calls.qa_topics
    qa_stats = qa_calls.qa_stats

    turn = turn_calls.turn

    recall = recall_calls.recall
    retain = retain_calls.retain
    capture = capture_calls.capture

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
    export_memories = transfer_calls.export_memories
    import_memories = transfer_calls.import_memories

    core = core_calls.core
    core_append = core_calls.core_append
    core_replace = core_calls.core_replace
    core_insert = core_calls.core_insert

    changes = change_calls.changes
    undo = change_calls.undo
    reflect = reflect_calls.reflect
    proposals = reflect_calls.proposals
    proposal = reflect_calls.proposal
    accept_proposal = reflect_calls.accept_proposal
    reject_proposal = reflect_calls.reject_proposal
