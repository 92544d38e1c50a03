"""Which models a session can ask, by name."""

from turnbuckle.kernel.owned import Owned
from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.model.port import Model, ModelRefused


class Models:
    """The models of one session. What is registered last under a name is the one that is asked."""

    def __init__(self) -> None:
        self._models: Owned[tuple[str, Model]] = Owned()

    def register(self, scope: Scope, name: str, model: Model) -> Disposer:
        """Add a model that leaves with its scope."""
        return self._models.add(scope, (name, model), f"model {name}")

    def get(self, name: str) -> Model:
        """The model of this name.

        Raises:
            ModelRefused: there is none (any more); the message names it and those there are.
        """
        found = [model for known, model in self._models if known == name]
        if found:
            return found[-1]
        known = ", ".join(sorted({known for known, _ in self._models})) or "none"
        raise ModelRefused("model", f"there is no model named {name!r}; configured: {known}")
