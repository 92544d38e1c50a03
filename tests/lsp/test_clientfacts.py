"""What a client says about itself is read whole, and nothing that it says can break the reading."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnbuckle.lsp.clientfacts import ClientFacts, read_client
from turnbuckle.lsp.quirks import PLAIN, quirks_of, takes_versions
from turnbuckle.workspace.text import Unit

KEYS = (
    "capabilities", "workspace", "window", "textDocument", "workspaceEdit", "documentChanges",
    "applyEdit", "showDocument", "support", "general", "positionEncodings", "experimental",
    "turnbuckle", "client", "events", "save", "protocolVersions", "initializationOptions",
    "trusted", "token", "workspaceFolders", "uri", "rootUri", "rootPath", "clientInfo", "name",
    "version", "dynamicRegistration", "codeAction", "codeActionLiteralSupport",
)  # fmt: skip

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(KEYS)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=40,
)


@given(JSON)
def test_any_json_gives_facts(params: object) -> None:
    facts = read_client(params)
    assert facts.encoding in get_args(Unit)
    assert all(isinstance(folder, str) for folder in facts.folders)
    assert isinstance(facts.trusted, bool)
    assert quirks_of(facts) is not None


def test_a_client_that_says_nothing_is_a_plain_one() -> None:
    assert read_client({}) == ClientFacts()
    assert read_client(None) == ClientFacts()


def test_everything_that_a_rich_client_says_is_read() -> None:
    facts = read_client(
        {
            "clientInfo": {"name": "Visual Studio Code", "version": "1.139.1"},
            "capabilities": {
                "general": {"positionEncodings": ["utf-16"]},
                "workspace": {
                    "applyEdit": True,
                    "workspaceEdit": {"documentChanges": True},
                    "executeCommand": {"dynamicRegistration": True},
                    "symbol": {"dynamicRegistration": False},
                    "codeLens": {"refreshSupport": True},
                    "textDocumentContent": {"dynamicRegistration": True},
                },
                "textDocument": {
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}
                },
                "window": {"workDoneProgress": True, "showDocument": {"support": True}},
                "experimental": {"turnbuckle": {"protocolVersions": [1], "events": {}, "save": {}}},
            },
            "workspaceFolders": [
                {"uri": "file:///w/a", "name": "a"},
                {"uri": "file:///w/b", "name": "b"},
            ],
            "rootUri": "file:///w/a",
            "initializationOptions": {"turnbuckle": {"trusted": False, "token": "t0"}},
        }
    )
    assert facts == ClientFacts(
        name="Visual Studio Code",
        version="1.139.1",
        encoding="utf-16",
        document_changes=True,
        apply_edit=True,
        show_document=True,
        work_done_progress=True,
        code_action_literals=True,
        text_document_content=True,
        code_lens_refresh=True,
        dynamic=frozenset({"workspace.executeCommand", "workspace.textDocumentContent"}),
        folders=("file:///w/a", "file:///w/b"),
        protocol_versions=(1,),
        events=True,
        save=True,
        trusted=False,
        token="t0",
    )


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["utf-8", "utf-32", "utf-16"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-7", 3, None, "utf-16", "utf-8"], "utf-16"),
        (["utf-7"], "utf-16"),
        ([], "utf-16"),
        ("utf-8", "utf-16"),
        (None, "utf-16"),
    ],
)
def test_the_first_position_encoding_that_we_know_is_taken(offered: object, chosen: str) -> None:
    facts = read_client({"capabilities": {"general": {"positionEncodings": offered}}})
    assert facts.encoding == chosen


def test_a_client_that_cannot_set_capabilities_announces_itself_in_its_options() -> None:
    client = {"protocolVersions": [1], "events": {}}
    facts = read_client({"initializationOptions": {"turnbuckle": {"client": client}}})
    assert (facts.events, facts.save, facts.protocol_versions) == (True, False, (1,))


@pytest.mark.parametrize("word", [False, None, 0, 1, "", "true", "no", [], {}])
def test_whatever_is_said_of_trust_but_a_plain_true_takes_it_away(word: object) -> None:
    assert not read_client({"initializationOptions": {"turnbuckle": {"trusted": word}}}).trusted


@pytest.mark.parametrize("options", [{}, {"trusted": True}])
def test_a_client_that_says_nothing_of_trust_is_trusted(options: object) -> None:
    assert read_client({"initializationOptions": {"turnbuckle": options}}).trusted


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        ({"workspaceFolders": [], "rootUri": "file:///w"}, ("file:///w",)),
        ({"workspaceFolders": None, "rootUri": None, "rootPath": "/w x"}, ("file:///w%20x",)),
        ({"rootPath": "C:\\w"}, ("file:///c%3A/w",)),
        ({"rootPath": "relative"}, ()),
        ({"rootPath": "/w\ud800"}, ()),
        ({"workspaceFolders": [{"uri": 4}, "x", {"uri": "file:///w"}]}, ("file:///w",)),
        ({"rootUri": ["file:///w"]}, ()),
    ],
)
def test_folders_come_from_the_newest_field_that_has_one(
    params: object, folders: tuple[str, ...]
) -> None:
    assert read_client(params).folders == folders


@pytest.mark.parametrize("value", ["yes", 1, {}, [True], None])
def test_a_capability_of_the_wrong_type_is_absent(value: object) -> None:
    facts = read_client(
        {
            "clientInfo": {"name": 7, "version": []},
            "capabilities": {
                "workspace": {"applyEdit": value, "workspaceEdit": {"documentChanges": value}},
                "window": {"workDoneProgress": value},
            },
        }
    )
    assert facts == ClientFacts()


def test_neovim_takes_versions_without_saying_so() -> None:
    neovim = read_client({"clientInfo": {"name": "Neovim", "version": "0.11.4"}})
    assert not neovim.document_changes
    assert takes_versions(neovim)


def test_an_editor_that_is_not_listed_is_taken_at_its_word() -> None:
    assert quirks_of(ClientFacts(name="Some Editor")) is PLAIN
    assert not takes_versions(ClientFacts(name="Some Editor"))
    assert takes_versions(ClientFacts(name="Some Editor", document_changes=True))
