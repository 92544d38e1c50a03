"""Bytes by digest."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from turnbuckle.session.blobs import Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "state" / "blobs")


async def test_bytes_come_back_by_their_digest(blobs: Blobs) -> None:
    digest = await blobs.put(b"some\0bytes")
    assert digest == hashlib.sha256(b"some\0bytes").hexdigest()
    assert await blobs.get(digest) == b"some\0bytes"
    assert await blobs.put(b"some\0bytes") == digest


async def test_nothing_is_made_before_it_is_needed(blobs: Blobs, tmp_path: Path) -> None:
    assert await blobs.get("0" * 64) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("digest", ["", "x", "../../secret", "A" * 64, "0" * 63, "0" * 65])
async def test_only_digests_name_blobs(blobs: Blobs, tmp_path: Path, digest: str) -> None:
    await blobs.put(b"x")
    (tmp_path / "secret").write_text("secret")
    assert blobs.path(digest) is None
    assert await blobs.get(digest) is None


async def test_a_finished_file_becomes_a_blob(blobs: Blobs) -> None:
    with blobs.file() as scratch:
        scratch.write(b"grown")
    path = Path(scratch.name)
    digest = await blobs.adopt(path)
    assert await blobs.get(digest) == b"grown"
    assert not path.exists()
    assert digest == await blobs.put(b"grown")


@pytest.mark.skipif(os.name == "nt", reason="modes as POSIX has them")
async def test_blobs_are_for_their_owner_only(blobs: Blobs) -> None:
    path = blobs.path(await blobs.put(b"x"))
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_what_could_not_be_kept_leaves_nothing(blobs: Blobs) -> None:
    path = blobs.path(await blobs.put(b"first"))
    assert path is not None
    # A folder where the blob should be: the last step fails.
    (path.parent / hashlib.sha256(b"second").hexdigest()).mkdir()
    with pytest.raises(OSError, match="directory"):
        await blobs.adopt(scratch_of(blobs, b"second"))
    assert await blobs.get(hashlib.sha256(b"second").hexdigest()) is None


def scratch_of(blobs: Blobs, data: bytes) -> Path:
    with blobs.file() as scratch:
        scratch.write(data)
    return Path(scratch.name)
