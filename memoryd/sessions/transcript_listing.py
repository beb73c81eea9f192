"""List the transcripts of one agent as they are now, for whoever exports them or takes their turns."""

from collections.abc import Sequence

from memoryd.domain.citations import transcript_path
from memoryd.errors import StoreUnavailable
from memoryd.sessions.transcript_conversations import Withholding
from memoryd.sessions.transcript_folders import TranscriptFolder
from memoryd.sessions.transcripts.agent_transcripts import AgentTranscripts, TranscriptFile
from memoryd.sessions.transcripts.transcript_folder import find_transcripts


class TranscriptListing:
    """The folders of one agent, and what of them is not to be remembered."""

    def __init__(self, agent: str, folders: Sequence[TranscriptFolder], withholding: Withholding) -> None:
        self._agent = agent
        self._folders = folders
        self._withholding = withholding

    def look(self) -> AgentTranscripts:
        """Return the transcripts that are not withheld; none while nobody knows which are. Blocks, and never raises.

        Of those of one name in several folders the first is told.
        """
        # before the look: what changes meanwhile is looked at once more
        marks = self._withholding.version
        files, problems, withheld = dict[str, TranscriptFile](), list[str](), set[str]()
        try:
            for folder in self._folders:
                found = find_transcripts(folder.path)
                if found.problem and not (folder.is_optional and not folder.path.exists()):
                    problems.append(f"{folder.path}: {found.problem}")
                for name, stat in found.files.items():
                    one = TranscriptFile(name, folder.path / name, stat, folder.whose)
                    if self._is_withheld(one):
                        withheld.add(name)
                    else:
                        files.setdefault(name, one)
        except StoreUnavailable as exc:
            return AgentTranscripts(problem=str(exc))
        listed = tuple(one for name, one in files.items() if name not in withheld)
        return AgentTranscripts(
            listed, "; ".join(problems), lambda name: name in withheld or self._is_named(name), marks
        )

    def _is_withheld(self, one: TranscriptFile) -> bool:
        try:
            return self._is_named(one.name) or self._withholding.transcript_like(one.path) is not None
        except OSError:
            # nobody can say now: the next look may
            return True

    def _is_named(self, name: str) -> bool:
        return self._withholding.names(transcript_path(self._agent, name))
