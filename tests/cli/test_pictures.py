"""Pictures that go along with a prompt of the terminal client."""

import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import anyio.to_thread
import pytest
import typer

from turnbuckle.cli.pictures import pictures
from turnbuckle.testing.completions import answer
from turnbuckle.testing.modelserver import ModelServer

PNG = b"\x89PNG\r\n\x1a\n" + b"the rest of it"


def test_the_type_is_told_by_the_name(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.png", "b.JPG", "c.jpeg", "d.gif", "e.webp")]
    for path in paths:
        path.write_bytes(PNG)
    parts = pictures(paths)
    kinds = ["image/png", "image/jpeg", "image/jpeg", "image/gif", "image/webp"]
    assert [part.mime_type for part in parts] == kinds
    assert {part.data for part in parts} == {b64encode(PNG).decode()}


@pytest.mark.parametrize(("name", "why"), [("a.svg", "is no picture"), ("b.png", "cannot be read")])
def test_what_cannot_be_shown_is_said_before_anything_is_asked(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(typer.BadParameter, match=why):
        pictures([tmp_path / name])


async def test_a_model_is_shown_the_file(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    async with ModelServer([answer("A red button.")]) as server:
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TURNBUCKLE_STATE_DIR": str(tmp_path / "state"),
            "TURNBUCKLE_CONFIG": str(tmp_path / "config.toml"),
            "TURNBUCKLE_BASE_URL": server.url,
            "TURNBUCKLE_MODEL": "m",
        }
        argv = [sys.executable, "-P", "-m", "turnbuckle", "ask", "What is it?"]
        done = await anyio.to_thread.run_sync(
            lambda: subprocess.run(
                [*argv, "--image", "shot.png"],
                cwd=tmp_path, env=env, capture_output=True, check=False, timeout=60,
            )
        )  # fmt: skip
        (received,) = server.requests
    assert (done.returncode, done.stdout) == (0, b"A red button.\n"), done.stderr
    parts = received.json["messages"][-1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    assert parts[1]["image_url"]["url"].endswith(b64encode(PNG).decode())
