"""The plugins that ship, in the order in which they are installed: the first stands outermost."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from turnbuckle import config
from turnbuckle.agent.plugins import Named
from turnbuckle.app.models import CHOSEN, Models
from turnbuckle.app.named import named_models
from turnbuckle.plugins import (
    approval,
    ask_user,
    budget,
    compaction,
    failover,
    ground_rules,
    instructions,
    invisible,
    metrics,
    redaction,
    repeats,
    retry,
    routing,
    shipped_tools,
    skills,
    step_limit,
    timeouts,
)


def shipped(
    models: Models,
    settings: config.Settings,
    folder: Path | None = None,
    own: Sequence[Path] = (),
) -> Sequence[Named]:
    """Names and installs, as the settings want them; `folder` is that of the person's own files.

    `own` are other files and folders of ours, which no tool may change unasked.

    Each stands where it does for a reason:

    - redaction sees what all others let through or add, so it is outermost;
    - what cannot be seen is written out of all that others let through or add, too;
    - approval has the word after all that judge a call, so that they can only ask for more;
    - metrics times a call as it is felt, so it stands around the limit of its time;
    - the budget goes before the question whether to go on: nobody is asked to spend what is gone;
    - what the person chose for a session comes before any route;
    - a route is chosen before the model that answers is looked up, which leaves it alone then;
    - the stand-ins come after both, since they know better, and around retry, which tries first.
    """
    folder = folder.absolute() if folder else None
    return (
        *_redaction(models, settings),
        ("invisible", invisible.install),
        ("approval", _approval(settings, folder, own)),
        *((("metrics", metrics.install),) if settings.metrics else ()),
        ("timeouts", _timeouts(settings)),
        ("budget", _budget(settings)),
        ("step_limit", partial(step_limit.install, steps=settings.max_steps)),
        ("choice", models.choices.plugin),
        *_routing(models, settings),
        ("model", models.plugin),
        *_failover(models, settings),
        ("ground_rules", ground_rules.install),
        ("shipped_tools", _tools(settings)),
        ("ask_user", ask_user.install),
        ("skills", partial(skills.install, own=folder and folder / "skills")),
        ("instructions", partial(instructions.install, own=folder and folder / "AGENTS.md")),
        ("repeats", repeats.install),
        ("retry", retry.install),
        ("compaction", compaction.install),
    )


def _redaction(models: Models, settings: config.Settings) -> Sequence[Named]:
    if not settings.redact:
        return ()

    def held() -> list[str]:
        # A key such as `not-needed` is no secret, and taken out it would tear holes into texts.
        return [one for one in models.held if any(char.isdigit() for char in one)]

    return (("redaction", partial(redaction.install, held=held)),)


def _approval(settings: config.Settings, folder: Path | None, own: Sequence[Path]) -> partial[None]:
    rules = settings.approvals
    more = [folder / "skills", folder / "AGENTS.md"] if folder else []
    code = [(folder or Path()) / Path(said).expanduser() for said in settings.plugins]
    return partial(
        approval.install,
        rules=approval.rules_of(
            allow=rules.commands.allow,
            deny=rules.commands.deny,
            reads=rules.reads.allow,
            writes=rules.writes.allow,
        ),
        own=(*own, *more, *(path for path in code if path.is_absolute())),
    )


def _tools(settings: config.Settings) -> partial[None]:
    return partial(shipped_tools.install, environment=settings.commands.environment)


def _timeouts(settings: config.Settings) -> partial[None]:
    own = settings.timeouts
    return partial(timeouts.install, limit=own.default, limits=own.tools)


def _budget(settings: config.Settings) -> partial[None]:
    price = settings.model.price
    return partial(
        budget.install,
        turn=budget.Limits(**settings.budget.turn.model_dump()),
        session=budget.Limits(**settings.budget.session.model_dump()),
        price=price.per_million() if price else None,
    )


def _routing(models: Models, settings: config.Settings) -> Sequence[Named]:
    own = settings.routing
    names = [name for name in (own.first, own.later, own.long, own.summary) if name]
    if not names:
        return ()
    routes = routing.Routes(
        first=own.first,
        later=own.later,
        long=own.long,
        long_after=own.long_after,
        beside={"compaction": own.summary} if own.summary else {},
    )
    return (
        ("routed models", named_models(models, names)),
        ("routing", partial(routing.install, routes=routes, instead_of=CHOSEN)),
    )


def _failover(models: Models, settings: config.Settings) -> Sequence[Named]:
    names = settings.failover.models
    if not names:
        return ()
    return (
        ("standing in", named_models(models, names)),
        ("failover", partial(failover.install, models=names)),
    )
