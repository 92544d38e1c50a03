"""A session handed on: nothing breaks out of its place, and nothing is lost."""

import re
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from turnbuckle.session.codec import Entry, encode_fact, line
from turnbuckle.session.events import (
    ApprovalAsked,
    ApprovalDecided,
    AssistantMessage,
    EditApplied,
    Fact,
    InboxAdded,
    LlmFailed,
    SessionCreated,
    SessionTitle,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnbuckle.session.export import Head, as_json, as_markdown, head_of
from turnbuckle.session.markdown import fenced, folded, prose
from turnbuckle.session.parts import End, Failure, JsonObject, Usage
from turnbuckle.session.reading import Stored

HEAD = Head(session_id="s-1", title="Fix it")


def entries(*facts: Fact) -> list[Entry]:
    return [Entry(seq, 1_700_000_000_000, fact) for seq, fact in enumerate(facts)]


def asked(subject: JsonObject) -> ApprovalAsked:
    return ApprovalAsked(
        approval_id="secret-1", call_id="1", subject=subject, digest="d", choices=("allow",)
    )


CHANGE: JsonObject = {
    "kind": "change",
    "files": [
        {
            "uri": "file:///work/a.py",
            "kind": "edit",
            "digest": "x",
            "hunks": [
                {"hunkId": "secret-2", "line": 2, "oldText": "one\n", "newText": "two\nthree\n"},
                {"hunkId": "secret-3", "line": 9, "oldText": "end", "newText": "END"},
                {"hunkId": "secret-4", "line": 20, "truncated": True},
            ],
        }
    ],
}


def test_a_session_as_markdown() -> None:
    facts = entries(
        SessionCreated(version=1, id="s-1", cwd="file:///work", parent="s-0"),
        TurnStart(turn=1),
        UserMessage(turn=1, step=1, content="The person points at the file a.py.", source="context"),
        UserMessage(turn=1, step=1, key="k", content="Fix it,\nplease."),
        AssistantMessage(
            turn=1, step=1, content="So:\n```py\nx = '<b>'\n```", finish="tool_calls",
            usage=Usage(input=1200, output=34, total=1234),
        ),
        ToolCall(turn=1, step=1, call_id="1", name="edit_file", arguments='{"path":"a.py"}'),
        asked(CHANGE),
        ApprovalDecided(approval_id="secret-1", outcome="allowed", by="client", note="go on"),
        EditApplied(call_id="1", uri="file:///work/a.py", hunks=("secret-2",), outcome="applied"),
        ToolResult(turn=1, step=1, call_id="1", content="edited ``` a.py", is_error=False),
        ToolResult(turn=1, step=1, call_id="2", content="no", is_error=True, code="DENIED"),
        TurnEnd(turn=1, end=End(kind="aborted", cause="user")),
    )  # fmt: skip
    head = Head(
        session_id="s-1", title="Fix it", cwd="file:///work", parent="s-0", damaged="line 9"
    )
    text = as_markdown(head, facts)
    assert "secret" not in text
    assert text == snapshot("""\
# Fix it

- session `s-1`
- forked from `s-0`
- in `file:///work`
- begun 2023-11-14 22:13 UTC
- used 1,200 tokens in, 34 out

## Turn 1

<details>
<summary>pointed at</summary>

```
The person points at the file a.py.
```

</details>

> Fix it,
> please.

So:

```py
x = '<b>'
```

**`edit_file`**

<details>
<summary>arguments</summary>

```json
{
  "path": "a.py"
}
```

</details>

Asked to change:

```diff
--- file:///work/a.py
+++ file:///work/a.py
@@ -3,1 +3,2 @@
-one
+two
+three
@@ -10,1 +11,1 @@
-end
\\ No newline at end of file
+END
\\ No newline at end of file
@@ line 21 @@ too large to be kept in the log
```

*Allowed, by client*

> go on

*1 change of `file:///work/a.py`: applied*

<details>
<summary>result of edit_file</summary>

````
edited ``` a.py
````

</details>

<details>
<summary>failed: DENIED</summary>

```
no
```

</details>

*aborted: user; 1,200 tokens in, 34 out*

*The session's file is damaged; the rest is missing: `line 9`*
""")


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ({"kind": "command", "command": "make ```\n", "cwd": "x"}, "````sh\nmake ```\n````"),
        ({"kind": "read", "places": [{"uri": "file:///.env"}]}, "- `file:///.env`"),
        ({"kind": "question", "question": "Which?\n# One?"}, "> Which?\n> # One?"),
        ({"kind": "`odd`"}, "Asked: `'odd'`"),
        ({"kind": "change", "files": [7, {"uri": "u", "hunks": None}]}, "--- u\n+++ u\n"),
    ],
)
def test_what_was_asked_is_shown(subject: JsonObject, shown: str) -> None:
    assert shown in as_markdown(HEAD, entries(asked(subject)))


def test_what_the_model_did_not_answer_is_shown() -> None:
    failed = LlmFailed(attempt=1, failure=Failure(kind="server", message="``` <img src=x>"))
    assert "````\n``` <img src=x>\n````" in as_markdown(HEAD, entries(failed))


BAD = "![a](https://x.y) <img src=z> [t](https://z) <details> </details> <pre>"


def test_arguments_that_are_nested_too_deep_are_shown_as_they_were_written() -> None:
    deep = f'{{"a":{"[" * 300}{"]" * 300}}}'
    call = ToolCall(turn=1, step=1, call_id="c", name="t", arguments=deep)
    assert deep in as_markdown(HEAD, [Entry(0, 5, call)])


def test_nothing_outside_code_is_fetched_or_folds_the_rest() -> None:
    facts = entries(
        UserMessage(turn=1, step=1, content=BAD),
        AssistantMessage(turn=1, step=1, content=BAD, finish="stop"),
        ToolCall(turn=1, step=1, call_id="1", name=BAD, arguments="{}"),
        ApprovalDecided(approval_id="a", outcome="rejected", by=BAD, note=BAD),
        TurnEnd(turn=1, end=End(kind="blocked", reason=BAD)),
    )
    text = as_markdown(Head(session_id="s", title=BAD), facts)
    outside = re.sub(r"`[^`\n]*`", "", text)
    assert "![" not in outside
    assert "<img" not in outside
    assert "](https" not in outside
    assert text.count("<details>") - text.count("`![a]") == text.count("\n</details>") == 1


def outside_code(text: str) -> str:
    """What a reader of Markdown takes for no block of code, by its rules for fences."""
    rows, fence = [], ""
    for row in text.split("\n"):
        found = re.match(r" {0,3}(`{3,}|~{3,})(.*)", row)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            rows.append(row)
    assert not fence, "a block of code does not end"
    return "\n".join(rows)


LINES = st.lists(
    st.sampled_from(["```", "````", "~~~", "```py", "``` `x", "  ```", "    ```", "text", "IN",
                     "> ```", "- ```", "</details>", "```\r```", "", "`````` "]),
    max_size=8,
).map("\n".join)  # fmt: skip


@given(LINES)
def test_no_output_ends_its_block_of_code(content: str) -> None:
    block = folded("result", fenced(content.replace("IN", "INSIDE")))
    outside = outside_code(f"{block}\n\nAFTER")
    assert "INSIDE" not in outside
    assert outside.endswith("AFTER")
    assert outside.count("</details>") == 1


@given(LINES)
def test_no_answer_swallows_what_stands_after_it(content: str) -> None:
    outside = outside_code(f"{prose(content)}\n\nAFTER")
    assert outside.endswith("AFTER")
    assert "</details>" not in outside


def test_code_in_an_answer_stays_as_it_is() -> None:
    assert prose("a <img src=x>\n```html\n<img src=x>\n```\nb") == (
        "a &lt;img src=x>\n\n```html\n<img src=x>\n```\n\nb"
    )
    assert prose("~~~\na\n``\n~~~~\nb") == "```\na\n``\n```\n\nb"
    assert prose("no code\n\nat all") == "no code\n\nat all"


def test_a_session_as_json_holds_the_facts_as_they_are_stored() -> None:
    facts: list[Fact] = [
        SessionCreated(version=1, id="s-1", cwd="file:///work", parent="s-0"),
        InboxAdded(key="k", target="turn", input="\n Fix it\nnow"),
    ]
    lines = [line(n, 5, fact, encode_fact(fact)) for n, fact in enumerate(facts)]
    stored = Stored([Entry(n, 5, fact) for n, fact in enumerate(facts)], lines, "line 3 is damaged")
    whole: dict[str, Any] = orjson.loads(as_json(head_of("s-1", stored), lines))  # Any: JSON
    assert whole.pop("events") == [orjson.loads(one) for one in lines]
    assert whole == {
        "format": "turnbuckle/session",
        "version": 1,
        "sessionId": "s-1",
        "title": "Fix it",
        "cwd": "file:///work",
        "parent": "s-0",
        "damaged": "line 3 is damaged",
    }
    assert orjson.loads(as_json(Head(session_id="s"), []))["events"] == []


def test_a_title_that_was_given_stands_above_the_session() -> None:
    prompt = InboxAdded(key="k", target="turn", input="Fix it")
    facts = entries(prompt, SessionTitle(title="T"), prompt)
    assert head_of("s", Stored(facts)).title == "T"


@pytest.mark.parametrize("time", [-(10**15), 10**18])
def test_a_clock_that_was_far_out_stops_no_export(time: int) -> None:
    text = as_markdown(HEAD, [Entry(0, time, SessionCreated(version=1, id="s"))])
    assert "begun" in text
