"""Where a model does not answer, the next one answers the same step."""

from functools import partial
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from turnbuckle.agent.plugin import Install, PluginContext
from turnbuckle.kernel.scope import Scope
from turnbuckle.model.port import Model, ModelRefused, ModelUnavailable
from turnbuckle.plugins import failover, retry
from turnbuckle.session.events import LlmStream, RequestHeader, UserMessage
from turnbuckle.session.parts import FailureKind
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, Step, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript


def stands_in(*models: str) -> Install:
    return partial(failover.install, models=models)


def others(**models: Model) -> Install:
    def install(ctx: PluginContext) -> None:
        for name, model in models.items():
            ctx.models.register(name, model)

    return install


def broken(kind: FailureKind = "auth", message: str = "no") -> Scripted:
    return Scripted([ModelRefused(kind, message)] * 20)


def asked(session: Driven) -> list[str]:
    return [fact.model for fact in session.facts if isinstance(fact, LlmStream)]


async def test_the_next_model_answers_the_same_step(tmp_path: Path) -> None:
    other = Scripted([say("I am here")])
    plugins: list[Install] = [others(other=other), stands_in("other")]
    notes: list[str] = []
    async with driven(broken("quota", "no money"), tmp_path, plugins=plugins) as session:
        session.opened.session.observe_notes(
            Scope("test"), lambda type_, data: notes.append(f"{type_}: {data['text']}")
        )
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
failed    quota: no money
assistant I am here
end       completed
""")
    assert asked(session) == ["scripted", "other"]
    assert notes == [
        "status: scripted does not answer (quota); other is asked for the rest of this turn"
    ]
    assert [m.content for m in other.requests[0].messages if isinstance(m, UserMessage)] == ["go"]


@pytest.mark.parametrize("kind", ["overflow", "protocol"])
async def test_what_another_model_would_refuse_too_is_not_passed_on(
    tmp_path: Path, kind: FailureKind
) -> None:
    other = Scripted([say("never")])
    plugins: list[Install] = [others(other=other), stands_in("other")]
    async with driven(broken(kind), tmp_path, plugins=plugins) as session:
        await session.say("go")
    assert transcript(session.entries).endswith(f"end       error ({kind}: no)\n")
    assert other.requests == []


async def test_it_takes_over_only_when_asking_again_did_not_help(tmp_path: Path) -> None:
    first = Scripted([ModelUnavailable("server", f"busy {count}") for count in range(10)])
    other = Scripted([*[ModelUnavailable("timeout", "slow")] * 4, say("at last")])
    plugins: list[Install] = [
        others(other=other),
        stands_in("other"),
        partial(retry.install, base=0.0, attempts=3),
    ]
    async with driven(first, tmp_path, plugins=plugins) as session:
        await session.say("go")
    # The stand-in has as many attempts as the first had.
    assert asked(session) == ["scripted"] * 3 + ["other"] * 3
    assert transcript(session.entries).endswith("end       error (timeout: slow)\n")


async def test_one_after_another_is_asked_and_the_last_failure_ends_the_turn(
    tmp_path: Path,
) -> None:
    plugins: list[Install] = [
        others(b=broken(message="b"), c=broken(message="c")),
        stands_in("scripted", "b", "c"),
    ]
    async with driven(broken(message="a"), tmp_path, plugins=plugins) as session:
        await session.say("go")
    assert asked(session) == ["scripted", "b", "c"]
    assert transcript(session.entries).endswith("end       error (auth: c)\n")


async def test_the_one_that_took_over_answers_to_the_end_of_the_turn(tmp_path: Path) -> None:
    async def work(_arguments: dict[str, object], _go: object) -> str:
        return "ok"

    replies: list[Step] = [ModelRefused("auth", "no"), say("back again")]
    other = Scripted([say("", ("1", "work", {})), say("done")])
    plugins: list[Install] = [others(other=other), stands_in("other")]
    async with driven(
        Scripted(replies), tmp_path, tools=[tool("work", work)], plugins=plugins
    ) as session:
        await session.say("go")
        await session.say("go on")
    assert asked(session) == ["scripted", "other", "other", "scripted"]
    headers = [f.config["model"] for f in session.facts if isinstance(f, RequestHeader)]
    assert headers == ["scripted", "other", "scripted"]


async def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    plugins: list[Install] = [stands_in("gone")]
    async with driven(broken(), tmp_path, plugins=plugins) as session:
        await session.say("go")
    assert "there is no model named 'gone'" in transcript(session.entries)


async def test_without_the_plugin_the_failure_stands(tmp_path: Path) -> None:
    plugins: list[Install] = [others(other=Scripted([])), stands_in("other")]
    async with driven(broken(), tmp_path, plugins=plugins) as session:
        await session.plugins.exchange([])
        await session.say("go")
    assert asked(session) == ["scripted"]
