"""The model that the settings name, as a plugin that registers it for each session."""

from turnbuckle import config
from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.lsp.protocol import ModelEntry
from turnbuckle.model.demo import Demo
from turnbuckle.model.endpoint import new_client
from turnbuckle.model.openai_chat import OpenAIChat
from turnbuckle.model.port import Emit, Model, ModelRefused, Reply, Request


class Unconfigured:
    """Stands where a model would, and says what is wrong with the settings."""

    window = None

    def __init__(self, problem: str) -> None:
        self._problem = problem

    async def __call__(self, _request: Request, _emit: Emit) -> Reply:
        """Refuse, with the reason."""
        raise ModelRefused("model", self._problem)


class Configured:
    """The configured model; each session gets an instance of its own, on one HTTP client.

    `problem` is what is wrong with the settings, None if nothing is.
    """

    def __init__(self, settings: config.Settings, problem: str | None) -> None:
        self.name = settings.model.name
        self.problem = problem
        self._settings = settings.model
        self._client = None
        if problem is None and settings.model.base_url is not None:
            try:
                self._client = new_client(settings.model.base_url)
            except ModelRefused as error:
                self.problem = str(error)

    def model(self) -> Model:
        """A new instance."""
        if self.problem is not None:
            return Unconfigured(self.problem)
        if self._settings.base_url is None:
            return Demo()
        return OpenAIChat(
            self._settings.base_url,
            key=config.api_key(),
            client=self._client,
            window=self._settings.context_window,
            idle_timeout=self._settings.idle_timeout,
            total_timeout=self._settings.total_timeout,
        )

    @property
    def plugin(self) -> Install:
        """Registers the model in a session."""

        def install(ctx: PluginContext) -> None:
            ctx.models.register(self.name, self.model())

        return install

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """What `turnbuckle/models` lists."""
        offline = self._settings.base_url is None
        return (
            ModelEntry(
                name=self.name,
                provider="built in" if offline else str(self._settings.base_url),
                window=self._settings.context_window,
                current=True,
                unavailable=self.problem,
            ),
        )

    async def aclose(self) -> None:
        """Close the HTTP client."""
        if self._client is not None:
            await self._client.aclose()
