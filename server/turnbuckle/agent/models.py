"""Which models a session can ask, by name."""

from turnbuckle.kernel.scope import Disposer, Scope
from turnbuckle.model.port import Model, ModelRefused


class Models:
    """The models of one session. What is registered last under a name is the one that is asked."""

    def __init__(self) -> None:
        self._models: dict[object, tuple[str, Model]] = {}

    def register(self, scope: Scope, name: str, model: Model) -> Disposer:
        """Add a model that leaves with its scope."""
        key = object()

        def remove() -> None:
            self._models = {k: v for k, v in self._models.items() if k is not key}

        dispose = scope.defer(remove, f"model {name}")
        self._models = self._models | {key: (name, model)}
        return dispose

    def get(self, name: str) -> Model:
        """The model of this name.

        Raises:
            ModelRefused: there is none (any more); the message names it and those there are.
        """
        found = [model for known, model in self._models.values() if known == name]
        if found:
            return found[-1]
        known = ", ".join(sorted({known for known, _ in self._models.values()})) or "none"
        raise ModelRefused("model", f"there is no model named {name!r}; configured: {known}")
