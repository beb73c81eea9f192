"""One workspace at work: its index, the sidecars beside it, and the agents that share it."""

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from memoryd.agents.conversation_figures import ConversationCensus
from memoryd.agents.conversation_search import conversation_arm
from memoryd.agents.conversation_wiring import kept_conversations
from memoryd.agents.conversations import AgentConversations, NotesAhead
from memoryd.agents.export_folders import export_settings
from memoryd.agents.figures import Census
from memoryd.agents.forgetting_indexes import ForgettingIndexes
from memoryd.agents.loops import NamedLoop
from memoryd.agents.memories import AgentMemory
from memoryd.agents.outage import make_vectors_in_outages
from memoryd.agents.part_settings import index_settings, search_settings, transcript_folders
from memoryd.agents.qa import AgentQa
from memoryd.agents.read import AgentFiles
from memoryd.agents.recall_wiring import RecallParts
from memoryd.agents.retained_forgetting import memory_forgetting
from memoryd.agents.retained_wiring import retained, workspace_memories
from memoryd.agents.rules import WorkspaceRules
from memoryd.agents.schedule import ScanSchedule
from memoryd.agents.search import AgentSearch
from memoryd.agents.sessions import AgentSessions
from memoryd.agents.states import wanted_parts
from memoryd.agents.status import AgentParts
from memoryd.agents.sync import AgentSync
from memoryd.agents.workspace_index import Surroundings, WorkspaceIndex
from memoryd.agents.workspace_path import WorkspacePath
from memoryd.agents.workspace_qa import WorkspaceQa
from memoryd.config.limits import LimitsSection
from memoryd.config.resolved import Agent
from memoryd.embed.choice import media_rules
from memoryd.embed.embedding import Embedding
from memoryd.errors import StoreError
from memoryd.files.present import PresentFiles, nowhere
from memoryd.memory.reached_search import ReachedSearch
from memoryd.memory.recall.recaller import RecallFreshness
from memoryd.qmd.agent import AgentQmd, Dependencies
from memoryd.rerank.reranking import Reranking
from memoryd.search.answer import SearchService
from memoryd.search.checked_search import CheckedSearch
from memoryd.search.file_check import FileCheck
from memoryd.search.merged_search import MergedSearch
from memoryd.sessions.exports.session_exports import SessionExports
from memoryd.sessions.transcript_listing import TranscriptListing
from memoryd.sessions.turn_taking import TurnTaking


class Workspace:
    """The parts of one workspace. `agents` are those that share its index; the first one's settings hold."""

    def __init__(
        self, *, agents: Sequence[Agent], embedding: Embedding, reranking: Reranking | None, around: Surroundings
    ) -> None:
        settings = agents[0].memory_search
        self.name = agents[0].id
        self.embedding = embedding
        self._executor = around.executor
        self._ledgers = around.ledgers
        self._text_models = around.text_models
        self._chunker = index_settings(settings).chunks.fingerprint
        self.reranking = reranking
        self.index = WorkspaceIndex(
            agents=agents,
            embedding=embedding,
            reranking=reranking,
            rules=WorkspaceRules(
                agents[0],
                media=media_rules(settings, embedding.plan),
                max_file_bytes=around.limits.max_file_bytes,
            ),
            around=around,
        )
        self._retained = workspace_memories(agents, self.index, around)
        self._is_alone = sum(agent.workspace == agents[0].workspace for agent in around.agents) == 1
        self._census = Census(database=self.index.database, lane=self.index.lane, embedding=embedding)
        self._schedule = ScanSchedule(settings.sync, self.index.indexer)
        ahead = NotesAhead(self.index.lane, lambda: self.index.pending_files)
        self.conversations = {
            agent.id: AgentConversations(agent, embedding=embedding, notes=ahead, around=around) for agent in agents
        }
        self.forgetting_indexes = ForgettingIndexes(self.index)
        self._forgetting = memory_forgetting(
            self._retained,
            self.forgetting_indexes,
            next((around.qas[agent.id] for agent in agents if agent.id in around.qas), None),
            list(self.conversations.values()),
            embedding,
        )
        listings = {agent.id: self._listing(agent) for agent in agents}
        self.qmds = {
            agent.id: self._sidecar(agent, SessionExports(export_settings(agent, around.agents), look))
            for agent, look in ((agent, listings[agent.id].look) for agent in agents)
            if agent.memory.backend == "qmd"
        }
        self.qas = {agent.id: self._qa(agent, around) for agent in agents}
        self.takings = {
            agent.id: self._taking(agent, around.qas[agent.id], listings[agent.id])
            for agent in agents
            if agent.id in around.qas and agent.takes_turns
        }
        self.kept = {
            agent.id: kept_conversations(
                agent,
                self.conversations[agent.id],
                shared=around.qas.get(agent.id),
                ledger=around.ledgers.of(agent),
                qmd=self.qmds.get(agent.id),
            )
            for agent in agents
        }
        self.memories = [self._memory(agent, self.qas[agent.id], around.limits) for agent in agents]
        # while qmd is thought to answer, nobody needs the vectors of the builtin index
        self.index.lane.pause(bool(self.qmds))

    def _qa(self, agent: Agent, around: Surroundings) -> AgentQa:
        withheld = self.conversations[agent.id].withheld
        return AgentQa(agent, around.qas.get(agent.id), around.ledgers.of(agent), withheld)

    def _listing(self, agent: Agent) -> TranscriptListing:
        return TranscriptListing(agent.id, transcript_folders(agent), self.conversations[agent.id].withheld)

    def _taking(self, agent: Agent, store: WorkspaceQa, listing: TranscriptListing) -> TurnTaking:
        return TurnTaking(agent=agent.id, look=listing.look, store=store, hold=self.qas[agent.id].held_answers.hold)

    def _sidecar(self, agent: Agent, exports: SessionExports) -> AgentQmd:
        rules, indexer = self.index.rules, self.index.indexer
        qmd = AgentQmd(
            agent,
            Dependencies(
                workspace=rules.workspace,
                builtin=self.index.builtin,
                words=self.index.words,
                known=lambda: indexer.known_paths,
                changed_since=indexer.read_since,
                ruling=rules.ruling,
                roots=rules.roots,
                max_file_bytes=rules.max_file_bytes,
                exports=exports,
            ),
        )
        self.index.followers.append(qmd)
        return qmd

    def _files(self, qmd: AgentQmd | None) -> PresentFiles:
        rules = self.index.rules
        return PresentFiles(
            rules=rules.rules, roots=rules.roots, elsewhere=nowhere if qmd is None else qmd.files.location
        )

    def _recall_parts(self, agent: Agent, path: WorkspacePath, limits: LimitsSection) -> RecallParts:
        """Return what recall shares with search, but for qmd: memories are the builtin index's."""
        qmd, files = self.qmds.get(agent.id), self._files(None)
        return RecallParts(
            files=files,
            check=FileCheck(files=files, executor=self._executor, chunker=self._chunker),
            fresh=RecallFreshness(
                owed=path.freshness,
                on_search=self._schedule.note_question,
                catch_up=path.catch_up,
                look_again=self.index.look_again,
                seconds=agent.memory_search.query.fresh_ms / 1000,
            ),
            executor=self._executor,
            limits=limits,
            passages=None if qmd is None else self._reached(qmd),
            is_alone=self._is_alone,
        )

    def _reached(self, qmd: AgentQmd | None) -> ReachedSearch:
        """Return the engine of an agent, which tells nobody the lines of others."""
        return ReachedSearch(inner=self._search(qmd), book=self._retained.book.now, database=self.index.database)

    def _search(self, qmd: AgentQmd | None) -> CheckedSearch:
        """Return the engine of an agent, whose every hit is held against its file."""
        return CheckedSearch(
            inner=self.index.builtin if qmd is None else qmd.search,
            check=FileCheck(files=self._files(qmd), executor=self._executor, chunker=self._chunker),
            look_again=self.index.look_again,
            gone=lambda: self.index.indexer.gone,
        )

    def _memory(self, agent: Agent, qa: AgentQa, limits: LimitsSection) -> AgentMemory:
        index, slot, qmd = self.index, self.embedding.slot, self.qmds.get(agent.id)
        path, talks = WorkspacePath(agent.workspace, index), self.conversations[agent.id]
        weights = search_settings(agent.memory_search, limits.max_vector_bytes).weights
        service = SearchService(
            search=MergedSearch(
                notes=self._reached(qmd),
                conversations=conversation_arm(
                    talks,
                    agent.memory_search,
                    exports=None if qmd is None else qmd.conversations,
                    weights=weights,
                ),
                weights=weights,
            ),
            freshness=path.freshness,
            on_search=self._schedule.note_question,
            catch_up=path.catch_up,
            fresh_seconds=agent.memory_search.query.fresh_ms / 1000,
        )
        memories = retained(agent, self._retained, self._forgetting, self._recall_parts(agent, path, limits))
        return AgentMemory(
            agent=agent,
            search=AgentSearch(agent=agent, service=service, slot=slot, limits=limits),
            files=AgentFiles(
                agent=agent,
                workspace=index.rules.workspace,
                database=index.database,
                withdrawn=index.indexer.withdrawn,
                roots=index.rules.roots,
                max_file_bytes=limits.max_file_bytes,
                qmd=qmd,
                book=self._retained.book.now,
            ),
            sync=AgentSync(agent=agent.id, index=index, slot=slot, qmd=qmd, conversations=talks),
            sessions=AgentSessions(agent.memory_search.sync, index.indexer, talks.demand),
            qa=qa,
            conversations=self.kept[agent.id],
            retained=memories,
            parts=AgentParts(
                id=agent.id,
                path=path,
                wanted=wanted_parts(agent.memory_search),
                index=index,
                embedding=self.embedding,
                reranking=self.reranking,
                text=self._text_models.of(agent),
                qmd=qmd,
                qa=qa.census,
                taking=self.takings.get(agent.id),
                census=self._census,
                ledger=self._ledgers.of(agent),
                conversations=ConversationCensus(
                    talks, self.embedding, owed=lambda: self.kept[agent.id].forgetting.trouble
                ),
                memories_trouble=lambda: memories.trouble,
            ),
        )

    def essential_loops(self) -> list[NamedLoop]:
        """Name the loops without which nothing that is told of the notes is true."""
        return [(f"keeper {self.name}", self.index.keeper.run), (f"indexer {self.name}", self.index.indexer.run)]

    def optional_loops(self) -> list[NamedLoop]:
        """Name the loops without which there is less to tell."""
        loops: list[NamedLoop] = [
            (f"embedding {self.name}", self.index.lane.run),
            (f"interval {self.name}", self._schedule.run),
            (
                f"stand-in {self.name}",
                lambda: make_vectors_in_outages(self.index.lane, list(self.qmds.values())),
            ),
            (f"outside {self.name}", self.index.outside.run),
            (f"memories {self.name}", self._retained.book.run),
            (f"forgetting of memories {self.name}", self._forgetting.run),
        ]
        for agent, sidecar in self.qmds.items():
            loops.append((f"qmd upkeep {agent}", partial(self._run_knowing, agent, sidecar.run_upkeep)))
            loops.append((f"qmd server {agent}", sidecar.run_server))
        for agent, taking in self.takings.items():
            loops.append((f"transcripts {agent}", partial(self._run_knowing, agent, taking.run)))
        loops += self._retained.reflect.loops(self.name)
        loops += [(f"forgetting {agent}", kept.forgetting.run) for agent, kept in self.kept.items()]
        return loops + [loop for each in self.conversations.values() for loop in each.loops()]

    async def _run_knowing(self, agent: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a loop that reads transcripts, with what is not to be remembered known before if that can be."""
        with contextlib.suppress(StoreError):
            await self.conversations[agent].withheld.load()
        await run()

    async def close(self) -> None:
        """Close the files of its indexes."""
        for each in self.conversations.values():
            await each.close()
        await self.index.close()
