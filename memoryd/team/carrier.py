"""The git repository as carrier: own files are committed here at once, and pushed when the remote answers.

Pending changes are the commits between two refs, `base` and `local`. After a fetch they are made again on top of the
fetched commit, memory by memory, as one commit: nothing is merged by lines of text, and nothing is forced. After a kill
between any two steps the next exchange repeats the same, by the refs.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime

import structlog
from msgspec.structs import replace

from memoryd.domain.memories.sharing import MAX_FILE_BYTES, TEAM_FILE, TeamPeople
from memoryd.errors import InvalidRequest, MemorydError, SidecarError
from memoryd.team.attribution import TOO_MANY, Attribution, TeamView
from memoryd.team.git import STDOUT_BYTES, address_of
from memoryd.team.own_files import UNMERGED, merged_file
from memoryd.team.protocol import CarrierHealth, SharedChanges, TeamPlace
from memoryd.team.repository import BASE, LOCAL, NOTES, REGULAR, TeamRepository, TreeFile, blob_id

log = structlog.get_logger(__name__)

TRIES = 4
"""Attempts to push if others are faster, before it is left to the next exchange."""
WHY_MERGED = "share what waited"
NO_TEAM = "the repository holds no team"
JOIN_HINT = "memoryctl team init makes one, memoryctl team join joins it"
NOT_IN = "{} is not in the team by the address {}, by which git knows you"
NOT_IN_HINT = "use the address that team.json has for you: git config user.email; or memoryctl team join"
TEAM_REMOVED = "the repository of the team has no team.json any more: commit {} by {} took it away or renamed it"
TEAM_REMOVED_HINT = "until it is back, nothing new is shown or shared: in a clone, git revert {}, and push"
RENAMED = "team.json names the team {}, and here it is {}: give it its name back, or leave the team and join it again"


class GitCarrier:
    """The carrier of one person; see `team/protocol.py`."""

    def __init__(self, place: TeamPlace, *, on_shown: Callable[[], object] = lambda: None) -> None:
        self.place = place
        self._remote = address_of(place.remote)
        self._on_shown = on_shown
        self.repository = TeamRepository(place.checkout, is_own=place.is_own)
        self._view = TeamView(place.notes)
        self._attribution = Attribution(self.repository)
        self._health = CarrierHealth()
        self._files = asyncio.Lock()
        """Locked while our refs are read and set."""
        self._network = asyncio.Lock()
        self._is_open = False
        self._has_begun = False

    def health(self) -> CarrierHealth:
        """Return the state of the carrier."""
        return self._health

    def digest(self, data: bytes) -> str:
        """Return the digest by which `known` identifies these bytes."""
        return blob_id(data)

    async def news(self) -> None:
        """Wait forever: a git repository reports no changes."""
        await asyncio.Event().wait()

    async def known(self) -> Mapping[str, str]:
        """Return the digests of the person's own files by path."""
        await self._begin()
        async with self._files:
            tree = await self._tree()
        return {path: file.blob for path, file in tree.items() if self._is_mine(path, file)}

    async def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Return the bytes of the person's own files by path; missing files are left out."""
        await self._begin()
        async with self._files:
            tree = await self._tree()
            blobs = {path: tree[path].blob for path in paths if path in tree and self._is_mine(path, tree[path])}
            data = await self.repository.blobs(blobs.values())
        return {path: data[blob] for path, blob in blobs.items()}

    async def members(self) -> Collection[str]:
        """Return the members of the team."""
        return sorted((await self.people()).people)

    async def people(self) -> TeamPeople:
        """Return the people of the team. Raises SidecarError if the repository has no team."""
        await self._begin()
        async with self._files:
            return await self._people(await self._tree())

    async def people_or_none(self) -> TeamPeople | None:
        """Return the people of the team, None if the repository has no team."""
        async with self._files:
            tree = await self._tree()
            return await self._people(tree) if TEAM_FILE in tree else None

    async def open(self) -> None:
        """Prepare the repository. Raises SidecarError if git or the checkout cannot be used."""
        async with self._files:
            await self._open()

    async def apply(self, changes: SharedChanges) -> None:
        """Commit changes of own files, and show them here. Raises InvalidRequest for a person outside of the team."""
        await self._begin()
        async with self._files:
            tree = await self._tree()
            await self._check_author(await self._people(tree))
            await self._commit(changes)
            await self._show_and_note()

    async def create_team(self, people: TeamPeople, why: str) -> None:
        """Write the file of the team, with its people."""
        async with self._files:
            await self._open()
            await self._commit(SharedChanges(put={TEAM_FILE: people.write()}, why=why))

    async def exchange(self) -> None:
        """Fetch the files of others, and push the applied changes. If that fails, `health` has the reason.

        Files that were fetched are shown in any case.
        """
        async with self._network:
            broken = ""
            try:
                async with self._files:
                    await self._open()
                await self._fetch_and_push()
            except (MemorydError, OSError) as exc:
                broken = _sentence(exc)
            async with self._files:
                await self._show_and_note(broken)

    async def _show_and_note(self, broken: str = "") -> None:
        """Show the files of the team here, and note an earlier error, or an error of that, in `health`."""
        try:
            await self._show()
        except (MemorydError, OSError) as exc:
            broken = broken or _sentence(exc)
        self._note(broken=broken)

    async def _begin(self) -> None:
        """Before the first use, fetch the repository. Raises SidecarError if that is impossible."""
        if self._has_begun:
            return
        async with self._files:
            await self._open()
            self._has_begun = await self.repository.commit_of(LOCAL) is not None
        if not self._has_begun:
            await self.exchange()
            if self._health.offline:
                raise SidecarError(self._health.offline, hint="the first time it must be reached")

    async def _fetch_and_push(self) -> None:
        for _ in range(TRIES):
            try:
                fetched = await self.repository.fetch(self._remote)
            except SidecarError as exc:
                self._note(offline=_sentence(exc))
                return
            self._note(offline="", fetched_at=datetime.now(UTC))
            async with self._files:
                tip = await self._rebase(fetched)
            if tip is None or tip == fetched:
                self._note(refused="")
                return
            result = await self.repository.push(self._remote, tip)
            if result.is_behind:
                continue
            self._note(offline=result.offline, refused=result.refused)
            if not result.offline and not result.refused:
                async with self._files:
                    await self.repository.set_ref(BASE, tip)
                self._note(pushed_at=datetime.now(UTC))
            return
        self._note(refused="others push all the time; it is tried again")

    async def _rebase(self, fetched: str | None) -> str | None:
        """Make the pending changes again on top of the fetched commit.

        Return the commit to push, None if there is none.
        """
        local, base = await self.repository.commit_of(LOCAL), await self.repository.commit_of(BASE)
        if local is None or (fetched is not None and await self.repository.is_ancestor(local, fetched)):
            tip = fetched
        else:
            if fetched is None or await self.repository.is_ancestor(fetched, local):
                # a remote without the branch gets what it had before, with the pending changes on top
                parent = before = base if fetched is None else fetched
            else:
                parent, before = fetched, base
                # a push may have succeeded without being noted, and another machine may have reverted it since:
                # then the pending changes begin at the commit where both met
                met = await self.repository.merge_base(local, fetched)
                if met is not None and (base is None or await self.repository.is_ancestor(base, met)):
                    before = met
            tip = await self._squash(parent, before, local)
        # in this order, so that after a kill in between the same is made again, and nothing is reverted
        if tip is not None and tip != local:
            await self.repository.set_ref(LOCAL, tip)
        if fetched is not None and base != fetched:
            await self.repository.set_ref(BASE, fetched)
        return tip

    async def _squash(self, parent: str | None, before: str | None, local: str) -> str | None:
        """Return one commit on a parent with the changes here since `before`, or the parent if there are none.

        A text that was shared and revoked while it was pending is in no pushed commit.
        """
        if await self.repository.parents(local) == ([] if parent is None else [parent]):
            return local
        changes = await self._pending_changes(before, local, parent)
        return (None if changes.is_empty else await self._commit_on(parent, changes)) or parent

    async def _pending_changes(self, base: str | None, local: str, fetched: str | None) -> SharedChanges:
        """Return the changes here since the base, as changes of the fetched commit. Raises SidecarError."""
        before, ours, theirs = [await self._own_tree(commit) for commit in (base, local, fetched)]
        # a folder with too many files has a single entry
        crowded = f"{NOTES}{self.place.person}"
        if before.get(crowded) != ours.get(crowded):
            raise SidecarError(UNMERGED.format(TOO_MANY.format(self.place.person)))
        put, remove = dict[str, bytes](), list[str]()
        for path in sorted(before.keys() | ours.keys()):
            was, now = before.get(path), ours.get(path)
            if was == now or not (path == TEAM_FILE or self.place.is_mine(path)):
                continue
            texts = [await self._bytes(tree, path) for tree in (before, ours, theirs)]
            # nothing to merge if the base is the fetched commit
            merged = texts[1] if base == fetched else self._merge(path, *texts)
            if merged is not None and merged != texts[2]:
                put[path] = merged
            elif merged is None and (path in theirs or crowded in theirs):
                remove.append(path)
        return SharedChanges(put=put, remove=remove, why=WHY_MERGED)

    def _merge(self, path: str, before: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        """Merge an own file with the fetched version; None means removed. Raises SidecarError if that is impossible."""
        if path == TEAM_FILE:
            return self._merge_team(ours, theirs)
        return ours if theirs is None else merged_file(path, before, ours, theirs)

    def _merge_team(self, ours: bytes | None, theirs: bytes | None) -> bytes | None:
        if ours is None or theirs is None:
            return theirs or ours
        mine = TeamPeople.read(ours).people.get(self.place.person, ())
        team = TeamPeople.read(theirs)
        # if the name is in use, the faster person keeps it
        for mail in () if team.people.get(self.place.person) else mine:
            team = team.with_person(self.place.person, mail)
        return team.write()

    async def _commit(self, changes: SharedChanges) -> None:
        local = await self.repository.commit_of(LOCAL)
        made = await self._commit_on(local, changes)
        if made is not None:
            await self.repository.set_ref(LOCAL, made)

    async def _commit_on(self, parent: str | None, changes: SharedChanges) -> str | None:
        return await self.repository.commit(parent, changes.put, changes.remove, f"memoryd: {changes.why}")

    async def _show(self) -> None:
        """Show the files of the team here, and count the pending ones."""
        local = await self.repository.commit_of(LOCAL)
        if local is None:
            return
        await self._count_waiting(local)
        people = await self._people(await self._tree())
        tree = await self.repository.tree(local, people.people)
        shown = await self._attribution.shown(local, tree, people)
        if await asyncio.to_thread(self._view.write, shown):
            self._on_shown()
        renamed = [RENAMED.format(people.name, self.place.name)] if self.place.name not in ("", people.name) else ()
        self._note(
            withheld=(*renamed, *shown.withheld, *self._view.unwritten),
            is_complete=shown.is_complete,
            people={**dict.fromkeys(people.people, 0), **self._view.files},
        )

    async def _count_waiting(self, local: str) -> None:
        base = await self.repository.commit_of(BASE)
        if base == local:
            self._note(pending=0, waits_since=None)
            return
        before, ours = [await self._own_tree(commit) for commit in (base, local)]
        pending = sum(before.get(path) != ours.get(path) for path in before.keys() | ours.keys())
        times = await self.repository.times_since(base, local) if pending else []
        self._note(pending=pending, waits_since=min(times, default=None))

    async def _tree(self) -> Mapping[str, TreeFile]:
        await self._open()
        return await self._own_tree(await self.repository.commit_of(LOCAL))

    async def _own_tree(self, commit: str | None) -> Mapping[str, TreeFile]:
        """Return the files of a commit with all own notes, even if there are more than are shown."""
        return await self.repository.tree(commit, (self.place.person,), most_bytes=STDOUT_BYTES)

    async def _people(self, tree: Mapping[str, TreeFile]) -> TeamPeople:
        data = await self._bytes(tree, TEAM_FILE)
        if data is None:
            local = await self.repository.commit_of(LOCAL)
            if local is not None and (last := await self.repository.team_last_touched(local)):
                raise SidecarError(TEAM_REMOVED.format(*last), hint=TEAM_REMOVED_HINT.format(last[0]))
            raise SidecarError(NO_TEAM, hint=JOIN_HINT)
        try:
            return TeamPeople.read(data)
        except ValueError as exc:
            raise SidecarError(str(exc), hint="mend it in the repository") from exc

    async def _check_author(self, people: TeamPeople) -> None:
        mail = await self.repository.author()
        if not people.has_address(self.place.person, mail):
            raise InvalidRequest(NOT_IN.format(self.place.person, mail), hint=NOT_IN_HINT)

    async def _bytes(self, tree: Mapping[str, TreeFile], path: str) -> bytes | None:
        file = tree.get(path)
        if file is None or file.mode != REGULAR:
            return None
        if file.size > MAX_FILE_BYTES:
            raise SidecarError(f"{path} in the repository of the team is too large")
        return (await self.repository.blobs([file.blob]))[file.blob]

    async def _open(self) -> None:
        if not self._is_open:
            await self.repository.open()
            self._is_open = True

    def _is_mine(self, path: str, file: TreeFile) -> bool:
        return file.mode == REGULAR and self.place.is_mine(path)

    def _note(self, **news: object) -> None:
        before = self._health
        self._health = replace(before, **news)
        for name in ("offline", "refused", "broken"):
            # only when it begins, so that a day without a network is one line in the log
            if (reason := getattr(self._health, name)) and not getattr(before, name):
                log.info("the team cannot be reached" if name == "offline" else "the team needs a look", reason=reason)


def _sentence(exc: Exception) -> str:
    hint = getattr(exc, "hint", "")
    return f"{exc}; {hint}" if hint else str(exc)
