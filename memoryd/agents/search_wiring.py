"""From an agent and its workspace to the search of its notes and conversations."""

from memoryd.agents.conversation_search import conversation_arm
from memoryd.agents.own_parts import OwnParts
from memoryd.agents.part_settings import search_settings
from memoryd.agents.search import AgentSearch
from memoryd.agents.workspace_parts import WorkspaceParts
from memoryd.config.agents import Agent
from memoryd.files.excerpts import PresentFiles, nowhere
from memoryd.memory.book import ReachedSearch
from memoryd.qmd.agent import AgentQmd
from memoryd.search.answer import SearchService
from memoryd.search.combined import MergedSearch
from memoryd.search.file_check import CheckedSearch, FileCheck


def agent_search(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> AgentSearch:
    """Return the search of an agent."""
    service = SearchService(
        search=_merged_search(agent, shared, own),
        freshness=own.path.freshness,
        on_search=shared.schedule.note_question,
        catch_up=own.path.catch_up,
        fresh_seconds=agent.memory_search.query.fresh_ms / 1000,
    )
    return AgentSearch(agent=agent, service=service, slot=shared.engines.embedding.slot, limits=shared.around.limits)


def reached_search(shared: WorkspaceParts, qmd: AgentQmd | None) -> ReachedSearch:
    """Return the engine of an agent, which tells nobody the lines of others."""
    index = shared.index
    checked = CheckedSearch(
        inner=index.builtin if qmd is None else qmd.search,
        check=file_check(shared, present_files(shared, qmd)),
        look_again=index.look_again,
        gone=lambda: index.indexer.gone,
    )
    return ReachedSearch(inner=checked, book=shared.memories.book.now, database=index.database)


def present_files(shared: WorkspaceParts, qmd: AgentQmd | None) -> PresentFiles:
    """Return the files of notes as they are now; those that only the sidecar knows, too."""
    rules = shared.index.rules
    return PresentFiles(rules=rules.rules, roots=rules.roots, elsewhere=nowhere if qmd is None else qmd.files.location)


def file_check(shared: WorkspaceParts, files: PresentFiles) -> FileCheck:
    """Return what holds hits against these files."""
    return FileCheck(files=files, executor=shared.around.executor, chunker=shared.chunker)


def _merged_search(agent: Agent, shared: WorkspaceParts, own: OwnParts) -> MergedSearch:
    settings, qmd = agent.memory_search, own.qmd
    weights = search_settings(settings, shared.around.limits.max_vector_bytes).weights
    exports = None if qmd is None else qmd.conversations
    return MergedSearch(
        notes=reached_search(shared, qmd),
        conversations=conversation_arm(own.conversations, settings, exports=exports, weights=weights),
        weights=weights,
    )
