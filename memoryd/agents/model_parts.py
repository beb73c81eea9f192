"""The models of all agents, which outlive a reload that leaves their settings as they are."""

from memoryd.agents.embedders import Embedders
from memoryd.agents.loops import NamedLoop
from memoryd.agents.rerankers import Rerankers
from memoryd.agents.text_models import TextModels
from memoryd.config.providers import ModelsSection
from memoryd.index.state import Publish


class ModelParts:
    """Embedders, rerankers and text models. `begin`, ask for what a configuration wants, then `settle`."""

    def __init__(self, publish: Publish) -> None:
        self.embedders = Embedders(ModelsSection(), publish)
        self.rerankers = Rerankers()
        self.text_models = TextModels(ModelsSection())

    def begin(self, models: ModelsSection) -> None:
        """Start over for a configuration; nobody who used one of them before does any more."""
        self.embedders.begin(models)
        self.rerankers.begin()
        self.text_models.begin(models)

    def settle(self) -> None:
        """Let go of the models that this configuration does not want."""
        self.embedders.settle()
        self.rerankers.settle()
        self.text_models.settle()

    def loops(self) -> list[NamedLoop]:
        """Name what keeps the models at work; they may fail and be started again."""
        return self.embedders.loops() + self.rerankers.loops() + self.text_models.loops()
