"""Send some of the requests to another model, such as a cheaper one for the first step."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.model.port import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """Models by name, each registered in the session; None leaves a request where it goes.

    `first` is for the first step of a turn, `later` for those after it; `long` goes before both,
    from step `long_after + 1` on: what takes so many steps may want a better model. `beside` has
    models for requests beside the steps, by what they are for, such as `compaction`.
    """

    first: str | None = None
    later: str | None = None
    long: str | None = None
    long_after: int = 20
    beside: Mapping[str, str] = field(default_factory=dict)

    def of(self, step: int, why: str | None = None) -> str | None:
        """The model for a request of a step, counted from 1; `why` as in the request."""
        if why is not None:
            return self.beside.get(why)
        if self.long is not None and step > self.long_after:
            return self.long
        return self.first if step == 1 else self.later


def install(ctx: PluginContext, *, routes: Routes, instead_of: str | None = None) -> None:
    """Route by step; requests that name another model than `instead_of` are left alone, if given.

    So a model that the person chose for a session stays the one that is asked.
    """
    current = 1

    async def remember(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
        nonlocal current
        current = step.step
        return await next_layer(step)

    async def route(request: Request, next_layer: Next[Request, Request]) -> Request:
        model = routes.of(current, request.why)
        if model is None or instead_of not in (None, request.config.model):
            return await next_layer(request)
        return await next_layer(replace(request, config=replace(request.config, model=model)))

    ctx.hooks.pre_step.use(remember)
    ctx.hooks.request.use(route)
