"""What looks like a secret reaches neither the model nor the log, and nothing else is touched."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.agent.hooks import Decision, PreStep
from turnbuckle.agent.plugin import PluginContext
from turnbuckle.kernel.waterfall import Next
from turnbuckle.plugins import redaction
from turnbuckle.session.events import ToolResult, UserMessage
from turnbuckle.session.rebuild import verify
from turnbuckle.session.redacting import PATTERNS, Pattern, redacted
from turnbuckle.session.store import read_lines
from turnbuckle.testing.agents import Driven, driven
from turnbuckle.testing.scripted import Scripted, say
from turnbuckle.testing.tools import tool
from turnbuckle.testing.transcript import transcript
from turnbuckle.tools.builtin import builtin_tools
from turnbuckle.tools.hooks import Block, Enrich, Executed, PostExecute, Replace
from turnbuckle.tools.tool import Go, Outcome, ToolError

ROOT = Path(__file__).parent.parent.parent

DIGITS = "Ab3dE5gH1jK2mN4pQ6rS7tU8vW9xY0zA1bC2dE3fG4hJ5kL6mN7pQ8rS9t"
"""Letters and digits; the secrets below are put together, so that none stands in this file."""

KEY_BODY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" + DIGITS[:24]] * 6)


def pem(kind: str, end: str = "\n", tail: bool = True) -> str:
    name = f"{kind}PRIVATE KEY"
    last = f"{end}-----END {name}-----" if tail else ""
    return f"-----BEGIN {name}-----{end}{KEY_BODY.replace(chr(10), end)}{last}"


SECRETS = {
    "key": pem(""),
    "rsa key": pem("RSA "),
    "openssh key": pem("OPENSSH "),
    "key in a string": pem("", end="\\n"),
    "key without its end": pem("EC ", tail=False),
    "aws": "AKIA" + "IOSFODNN7" + "QWERTYZ",
    "github": "ghp" + "_" + DIGITS[:36],
    "github, fine": "github" + "_pat_" + DIGITS[:22] + "_" + (DIGITS * 2)[:59],
    "gitlab": "glpat" + "-" + DIGITS[:20],
    "hex": "sk" + "-" + "0123456789abcdef" * 2,
    "project": "sk" + "-proj-" + DIGITS[:50] + "_-" + DIGITS[:20],
    "named": "sk" + "-ant-api03-" + DIGITS[:50],
    "slack": "xoxb" + "-123456789012-" + DIGITS[:24],
    "google": "AIza" + DIGITS[:35],
    "stripe": "sk" + "_live_" + DIGITS[:24],
    "npm": "npm" + "_" + DIGITS[:36],
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + DIGITS,
    "hugging face": "hf" + "_" + DIGITS[:34],
    "sendgrid": "SG" + "." + DIGITS[:22] + "." + DIGITS[:43],
    "jwt": ".".join(("ey" + "JhbGciOiJIUzI1NiJ9", "ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0", DIGITS[:43])),
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize(("before", "after"), [("", ""), ("TOKEN=", "\n"), ('{"a": "', '"}')])
def test_known_forms_are_found_wherever_they_stand(secret: str, before: str, after: str) -> None:
    clean = redacted(f"{before}{secret}{after}")
    assert clean.startswith(f"{before}[redacted: ")
    assert clean.endswith(f"]{after}")
    assert not any(part in clean for part in (DIGITS[:20], KEY_BODY[:20], secret))


@pytest.mark.parametrize(
    "harmless",
    [
        "-----BEGIN PRIVATE KEY-----",
        'if line == "-----BEGIN PRIVATE KEY-----": return parse(line)',
        "-----BEGIN PUBLIC KEY-----\n" + KEY_BODY + "\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + KEY_BODY + "\n-----END CERTIFICATE-----",
        "sk-this-is-a-css-class-with-a-very-long-name-indeed",
        "task-0123456789abcdef0123456789abcdef",
        "risk-proj-notes-and-a-name-that-is-longer-than-forty-letters-1",
        "hf_hub_download npm_config_registry pypi-publish ghp_token SG.config.value",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "eyJhbGciOiJIUzI1NiJ9 and eyJzdWIiOiIx",
        "ASIATIC AKIAH xoxo-love",
    ],
)
def test_what_only_looks_a_little_like_one_is_left_alone(harmless: str) -> None:
    assert redacted(harmless) is harmless


def test_this_projects_own_files_hold_nothing_that_is_found() -> None:
    suffixes = (".py", ".md", ".ts", ".tsx", ".toml", ".yml", ".yaml", ".json", ".lua", ".mjs")
    folders = [ROOT / name for name in ("server", "tests", "docs", "examples", "benchmarks")]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    assert len(files) > 200
    found = [
        path.relative_to(ROOT).as_posix()
        for path in files
        if "node_modules" not in path.parts
        and redacted(text := path.read_text(encoding="utf-8", errors="replace")) != text
    ]
    assert found == []


@given(st.text())
def test_text_without_a_secret_comes_back_as_it_is(text: str) -> None:
    assert redacted(text) is text


@given(st.text(max_size=30), st.sampled_from(sorted(SECRETS.values())), st.text(max_size=30))
def test_redacting_twice_is_redacting_once(before: str, secret: str, after: str) -> None:
    once = redacted(f"{before} {secret} {after}")
    assert secret not in once
    assert redacted(once) == once


@pytest.mark.parametrize("one", PATTERNS, ids=lambda one: one.name)
def test_no_text_takes_a_pattern_long(one: Pattern) -> None:
    # Much that nearly fits; with a time that grows by the square this would not end in time.
    hint, key = one.hints[-1], "-----BEGIN PRIVATE KEY-----"
    pieces = (hint, f"{hint}a", f"{hint}-", f"{key}AAAA\nVersion: ", f"{key}{'A ' * 40}", "eyJaaa.")
    for piece in pieces:
        redacted(piece * (200_000 // len(piece)), patterns=[one])


def test_a_secret_that_is_known_is_found_by_its_text() -> None:
    assert redacted("a my-own-secret b", ["my-own-secret", "b"]) == "a [redacted: key] b"


# -- in a session ------------------------------------------------------------------------------------


TOKEN = SECRETS["github"]


def said(model: Scripted, request: int = 0) -> list[str]:
    """The words of the person, and of layers, in a request."""
    messages = model.requests[request].messages
    return [message.content for message in messages if isinstance(message, UserMessage)]


def file_of(session: Driven) -> bytes:
    store = session.opened.session.store
    assert store is not None
    return store.path.read_bytes()


async def test_neither_the_model_nor_a_message_or_result_in_the_log_holds_it(
    tmp_path: Path,
) -> None:
    async def show(arguments: dict[str, Any], _: Go) -> Outcome:
        if arguments.get("fail"):
            raise ToolError("NOT_FOUND", f"no {TOKEN}")
        return Outcome(content=f"token {TOKEN}", contexts=(f"and {TOKEN}",))

    def adds(ctx: PluginContext) -> None:
        async def hint(executed: Executed, next_layer: Next[Executed, PostExecute]) -> PostExecute:
            await next_layer(executed)
            return Enrich((f"hint {TOKEN}",))

        ctx.hooks.post_execute.use(hint)

    model = Scripted([say("", ("1", "show", {}), ("2", "show", {"fail": True})), say("done")])
    plugins = [redaction.install, adds]
    async with driven(model, tmp_path, tools=[tool("show", show)], plugins=plugins) as session:
        await session.say(f"my token is {TOKEN}.")
    assert transcript(session.entries) == snapshot("""\
user      my token is [redacted: GitHub token].
  call    1 show()
  call    2 show(fail=True)
  result  1 token [redacted: GitHub token]
  result  2 NOT_FOUND <tool error: no [redacted: GitHub token]>
context   and [redacted: GitHub token]
context   hint [redacted: GitHub token]
context   hint [redacted: GitHub token]
assistant done
end       completed
""")
    assert TOKEN not in repr(model.requests)
    raw = file_of(session)
    # What the person typed stands only where it waited, on their own disk.
    assert [
        line for line in raw.splitlines() if TOKEN.encode() in line and b"inbox/added" not in line
    ] == []
    store = session.opened.session.store
    assert store is not None
    lines, _ = read_lines(store.path)
    assert [same for _, same in verify(iter(lines))] == [True, True]


async def test_what_a_tool_gave_stands_nowhere_in_the_log(tmp_path: Path) -> None:
    def replaces(ctx: PluginContext) -> None:
        async def judge(executed: Executed, next_layer: Next[Executed, PostExecute]) -> PostExecute:
            decisions: dict[str, PostExecute] = {
                "1": Replace(f"instead {TOKEN}"),
                "2": Enrich((TOKEN,)),
                "3": Block(TOKEN),
            }
            await next_layer(executed)
            return decisions[executed.call.call_id]

        ctx.hooks.post_execute.use(judge)

    async def show(_arguments: dict[str, Any], _: Go) -> str:
        return f"token {TOKEN}"

    model = Scripted([say("", *((id_, "show", {}) for id_ in "123")), say("done")])
    plugins = [redaction.install, replaces]
    async with driven(model, tmp_path, tools=[tool("show", show)], plugins=plugins) as session:
        await session.say("go")
    assert TOKEN.encode() not in file_of(session)
    assert file_of(session).count(b"[redacted: GitHub token]") >= 3


async def test_what_other_layers_add_is_redacted_too(tmp_path: Path) -> None:
    def adds(ctx: PluginContext) -> None:
        async def more(step: PreStep, next_layer: Next[PreStep, Decision]) -> Decision:
            more = UserMessage(turn=step.turn, step=step.step, content=TOKEN, source="context")
            return await next_layer(PreStep(turn=step.turn, step=step.step, messages=(more,)))

        ctx.hooks.pre_step.use(more)

    model = Scripted([say("done")])
    async with driven(model, tmp_path, plugins=[redaction.install, adds]) as session:
        await session.say("go")
    assert said(model) == ["[redacted: GitHub token]"]


async def test_a_placeholder_is_never_written_over_the_secret(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    path = tmp_path / "work" / "settings.py"
    path.write_text(f'NAME = "a"\nTOKEN = "{TOKEN}"\n')
    edits = [{"old": 'NAME = "a"', "new": 'NAME = "b"'}]
    model = Scripted([
        say("", ("1", "read_file", {"path": "settings.py"})),
        say("", ("2", "write_file", {"path": "settings.py", "content": 'NAME = "b"\nTOKEN = "[redacted: GitHub token]"\n'})),
        say("", ("3", "edit_file", {"path": "settings.py", "edits": edits})),
        say("done"),
    ])  # fmt: skip
    tools = builtin_tools()
    async with driven(model, tmp_path, tools=tools, plugins=[redaction.install]) as session:
        session.answer_approvals(allow=True)
        await session.say("go")
    read, written, edited = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert 'TOKEN = "[redacted: GitHub token]"' in read.content
    assert written.code == "DENIED"
    assert "placeholder" in written.content
    assert edited.code is None
    assert path.read_text() == f'NAME = "b"\nTOKEN = "{TOKEN}"\n'


async def test_a_placeholder_that_nobody_was_shown_can_be_written(tmp_path: Path) -> None:
    content = "It says [redacted: GitHub token] then."
    model = Scripted([
        say("", ("1", "write_file", {"path": "docs.md", "content": content})), say("done"),
    ])  # fmt: skip
    tools = builtin_tools()
    async with driven(model, tmp_path, tools=tools, plugins=[redaction.install]) as session:
        session.answer_approvals(allow=True)
        await session.say("go")
    assert (tmp_path / "work" / "docs.md").read_text() == content


async def test_what_the_model_was_shown_before_the_session_was_opened_again_counts(
    tmp_path: Path,
) -> None:
    write = {"path": "a.md", "content": "[redacted: GitHub token]"}
    async with driven(Scripted([say("ok")]), tmp_path, plugins=[redaction.install]) as session:
        await session.say(TOKEN)
    id_ = session.opened.session.id
    model = Scripted([say("", ("1", "write_file", write)), say("done")])
    async with driven(
        model, tmp_path, tools=builtin_tools(), plugins=[redaction.install], session_id=id_
    ) as session:
        session.prompts = 1
        await session.say("go")
    (result,) = (fact for fact in session.facts if isinstance(fact, ToolResult))
    assert result.code == "DENIED"


async def test_what_a_cancelled_call_still_gave_is_redacted(tmp_path: Path) -> None:
    async def body(_arguments: dict[str, Any], _: Go) -> str:
        with anyio.CancelScope(shield=True):
            session.opened.driver.cancel("the person")
            await anyio.lowlevel.checkpoint()
        return TOKEN

    model = Scripted([say("", ("1", "show", {}))])
    plugins = [redaction.install]
    async with driven(model, tmp_path, tools=[tool("show", body)], plugins=plugins) as session:
        await session.say("go")
    assert transcript(session.entries) == snapshot("""\
user      go
  call    1 show()
  result  1 [redacted: GitHub token]
end       aborted (the person)
""")


async def test_keys_that_are_held_are_looked_up_each_time(tmp_path: Path) -> None:
    held: list[str] = []
    model = Scripted([say("one"), say("two")])
    plugin = partial(redaction.install, held=lambda: held)
    async with driven(model, tmp_path, plugins=[plugin]) as session:
        await session.say("correct horse battery")
        held.append("correct horse battery")
        await session.say("correct horse battery")
    assert said(model, 1) == ["correct horse battery", "[redacted: key]"]


async def test_without_the_plugin_nothing_is_redacted(tmp_path: Path) -> None:
    model = Scripted([say("one")])
    async with driven(model, tmp_path, plugins=[redaction.install]) as session:
        await session.plugins.exchange([])
        await session.say(TOKEN)
    assert said(model) == [TOKEN]
