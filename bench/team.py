"""What a team costs: a question with the team's notes beside one's own, and carrying them by git and by a server."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count as count_up
from itertools import islice
from pathlib import Path

from bench.measurement import Aim, Bench, Row
from bench.questions import Latencies, ask
from bench.recombined import NOTE_BYTES, Recombiner
from bench.stage import agent, settle
from bench.timing import percentile, timed
from memoryd.domain.memories.sharing import why_not_shared
from memoryd.team.sharing import SharedNotes
from tests.daemon import RunningDaemon, write_config
from tests.postgres import Postgres, server_team
from tests.teams import Member
from tests.teams import team as git_team

CHUNKS, QUICK_CHUNKS = 20_000, 1_200
"""Of the team; of one's own as many again, and no more than the usual size."""
CHUNKS_A_NOTE = 12
NOTES_A_MEMBER = 800
"""Well below what one member may share."""
ASKED, QUICK_ASKED = 300, 40
UP_AIM, DOWN_AIM = Aim(30), Aim(2)
"""Milliseconds that a team adds to the 95th percentile of a question."""
ASKER = "ana"
LISTENS_SECONDS = 0.2
"""Until who waits for news has asked for it."""
WRITERS, ROUNDS = 4, 20
"""Who share at once, and how often each."""


def rows(bench: Bench) -> Iterator[Row]:
    """Share the notes of colleagues by git and by a server, then ask with and without them, and the server gone."""
    usual = bench.pick(CHUNKS, QUICK_CHUNKS)
    count, own = (max(2, chunks // CHUNKS_A_NOTE) for chunks in (bench.size or usual, min(bench.size or usual, usual)))
    # the asker's own notes have the even numbers; what looks like a secret is not shared
    written = (Recombiner(2 * number + 1).note(NOTE_BYTES) for number in count_up())
    shared = list(islice((text for text in written if not why_not_shared("memory/note.md", text)), count))
    shares = [shared[at : at + NOTES_A_MEMBER] for at in range(0, count, NOTES_A_MEMBER)]
    people = [f"colleague-{number}" for number in range(len(shares))]
    writers = [f"writer-{number}" for number in range(WRITERS)]
    yield from asyncio.run(_at_once("git", asyncio.run(git_team(bench.folder / "git-writers", *writers))))
    git = asyncio.run(git_team(bench.folder / "git", ASKER, *people))
    yield from _carried("git", git, shares)
    server = Postgres()
    try:
        members = asyncio.run(server_team(server, bench.folder / "server", ASKER, *people, name="acme"))
        yield from _carried("server", members, shares)
        yield from asyncio.run(_at_once("server", asyncio.run(server_team(server, bench.folder / "writers", *writers))))
        with server.connect() as admin:
            [(stored,)] = admin.execute("SELECT pg_total_relation_size('memoryd.files')").fetchall()
        yield Row("server: disk for a chunk", stored / (count * CHUNKS_A_NOTE), "B")
        yield from _asked(bench, server, shared, own)
    finally:
        server.stop()


def _carried(name: str, members: Sequence[Member], shares: Sequence[Sequence[str]]) -> Iterator[Row]:
    """Yield what it takes to share, bring in, and find that nothing is new."""
    asker, colleagues = members[0], members[1:]
    note = f"{sum(map(len, shares)):,} notes of {len(shares)}"
    for colleague, texts in zip(colleagues, shares, strict=True):
        named = {f"memory/{number:05}.md": text for number, text in enumerate(texts)}
        colleague.shared = SharedNotes(named, {})
    with timed() as watch:
        for colleague in colleagues:
            asyncio.run(colleague.sharing.sync())
    yield Row(f"{name}: shared and sent", watch.seconds, "s", note=note)
    with timed() as watch:
        asyncio.run(asker.exchange())
    yield Row(f"{name}: brought in", watch.seconds, "s", note=note)
    with timed() as watch:
        asyncio.run(asker.exchange())
    yield Row(f"{name}: an exchange without news", watch.seconds, "s")


async def _at_once(name: str, writers: Sequence[Member]) -> list[Row]:
    """Have several share a memory at once, again and again; return how long each took until it was sent."""
    took = list[float]()

    async def share(member: Member, number: int) -> None:
        with timed() as watch:
            await member.promote(f"- W: {member.person} says {number}")
            while member.carrier.health().pending:
                await member.carrier.exchange()
        took.append(watch.seconds * 1000)

    for number in range(ROUNDS):
        await asyncio.gather(*(share(one, number) for one in writers))
    reader, writer = writers[0], writers[-1]
    heard = list[float]()
    for number in range(ROUNDS if name == "server" else 0):
        await reader.exchange()
        news = asyncio.create_task(reader.carrier.news())
        await asyncio.sleep(LISTENS_SECONDS)
        with timed() as watch:
            await writer.promote(f"- W: news {number}")
            await writer.exchange()
            await news
            await reader.exchange()
        heard.append(watch.seconds * 1000)
    for reader in writers:
        await reader.exchange()
        assert len(reader.all_seen()) == len(writers), reader.all_seen()
    note = f"{len(took)} memories by {len(writers)} at once"
    seen = [Row(f"{name}: until a colleague has it, p95", percentile(heard, 95), "ms", Aim(2000))] if heard else []
    return [
        *(Row(f"{name}: shared and sent at once, p{at}", percentile(took, at), "ms", note=note) for at in (50, 95)),
        *seen,
    ]


def _asked(bench: Bench, server: Postgres, shared: Sequence[str], count: int) -> Iterator[Row]:
    asked = Recombiner(count)
    questions = [asked.question() for _ in range(bench.pick(ASKED, QUICK_ASKED))]
    own = [Recombiner(2 * number).note(NOTE_BYTES) for number in range(count)]
    with _daemon(bench, "alone", own) as daemon:
        alone = ask(daemon, questions)
        yield from alone.rows("question, own notes alone", note=_chunks(daemon))
    with _daemon(bench, "one", [*own, *shared]) as daemon:
        yield from ask(daemon, questions).rows("question, all of it one's own", note=_chunks(daemon))
    team = {"remote": server.remote(ASKER), "name": "acme", "person": ASKER}
    with _daemon(bench, "team", own, team=team) as daemon:
        daemon.client().sync_team()
        settle(daemon.client())
        beside = ask(daemon, questions)
        yield from beside.rows("question, the team's beside", note=_chunks(daemon))
        yield _added("the team's beside", beside, alone, UP_AIM)
        server.kill()
        daemon.client().sync_team()
        away = ask(daemon, questions)
        yield from away.rows("question, the server gone")
        yield _added("the server gone", away, beside, DOWN_AIM)


def _added(name: str, now: Latencies, before: Latencies, aim: Aim) -> Row:
    return Row(f"{name}: added to p95", percentile(now.wall, 95) - percentile(before.wall, 95), "ms", aim)


@contextmanager
def _daemon(
    bench: Bench, name: str, notes: Sequence[str], team: Mapping[str, object] | None = None
) -> Iterator[RunningDaemon]:
    home: Path = bench.folder / name
    folder = home / "workspace" / "memory"
    folder.mkdir(parents=True)
    for number, text in enumerate(notes):
        (folder / f"note-{number:05}.md").write_text(text, encoding="utf-8")
    with RunningDaemon(
        home, write_config(home, home / "workspace", None, team=team or {}), home / "workspace"
    ) as daemon:
        settle(daemon.client())
        yield daemon


def _chunks(daemon: RunningDaemon) -> str:
    return f"{agent(daemon.client())['chunks']:,} chunks"
