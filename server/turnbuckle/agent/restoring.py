"""Files put back as they stood before the agent wrote them, where they are as it left them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import anyio
import anyio.lowlevel
from anyio import to_thread

from turnbuckle.agent.agent import Agent
from turnbuckle.session.events import EditUndone, Fact
from turnbuckle.session.written import NOTHING, Written
from turnbuckle.workspace.changes import digest_of, make_change
from turnbuckle.workspace.errors import Missing, NoFolder, WorkspaceError
from turnbuckle.workspace.paths import Place
from turnbuckle.workspace.port import Applied, AppliedOutcome, Snapshot
from turnbuckle.workspace.removal import remove

Record: TypeAlias = Callable[[Fact], Awaitable[None]]
"""Make something a fact, on disk when it returns."""

_SENTENCES: dict[AppliedOutcome, str] = {
    "applied": "",
    "stale": "it was changed at the same moment",
    "declined": "the editor refused the edit",
    "unverified": "the edit was sent, but the file does not show it; look at it",
    "misplaced": "the edit landed in another place than meant; look at it",
    "failed": "it could not be written",
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left as it is, and why."""

    uri: str
    why: str


@dataclass(frozen=True, slots=True)
class Restored:
    """The files that were put back, by URI, and those that were not."""

    restored: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class _Left(Exception):
    """A file stays as it is; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """One file: what stands there and what shall, None for no file; `kept` is the former's digest.

    All that is needed to take it back is kept by now.
    """

    file: Written
    place: Place
    now: Snapshot | None
    text: str | None
    kept: str | None


async def put_back(agent: Agent, files: Sequence[Written], record: Record) -> Restored:
    """Put files back, each as a fact; what stands there is kept before anything changes.

    Raises:
        StoreFailed: the log could not be written; the other files were left as they are.
    """
    plans: list[_Plan] = []
    restored: list[str] = []
    skipped: list[Skipped] = []
    for file in files:
        try:
            plan = await _plan(agent, file)
        except _Left as error:
            skipped.append(Skipped(file.uri, str(error)))
        else:
            plans += [plan] if plan else []
    for plan in plans:
        # Once begun, a file is brought to its end, so that the log tells what stands.
        with anyio.CancelScope(shield=True):
            applied = await _apply(agent, plan)
            if applied.outcome == "applied":
                await record(_fact(plan, applied))
                restored.append(plan.file.uri)
            else:
                why = applied.said or _SENTENCES[applied.outcome]
                skipped.append(Skipped(plan.file.uri, why))
        await anyio.lowlevel.checkpoint()
    return Restored(tuple(restored), tuple(skipped))


def _fact(plan: _Plan, applied: Applied) -> EditUndone:
    file = plan.file
    return EditUndone(
        call_id=file.call_id,
        uri=file.uri,
        hunks=file.hunks,
        by="rewind",
        before=plan.kept,
        after=None if plan.text is None else applied.after,
    )


async def _plan(agent: Agent, file: Written) -> _Plan | None:
    """How to put a file back, None where it is as it was before.

    Raises:
        _Left: it has to stay as it is.
    """
    try:
        place = agent.workspace.roots.resolve(file.uri)
        now = await _look(agent, place)
    except (WorkspaceError, NoFolder) as error:
        raise _Left(str(error)) from error
    digest = now.digest if now else NOTHING
    if digest == file.before:
        return None
    _require_own(file, digest)
    if now and now.version is not None and file.before == NOTHING:
        raise _Left("it is open in the editor; close it, then delete it")
    return _Plan(
        file=file,
        place=place,
        now=now,
        text=await _before(agent, file),
        kept=await _keep(agent, now) if now else None,
    )


async def _look(agent: Agent, place: Place) -> Snapshot | None:
    try:
        return await agent.workspace.texts.read(place)
    except Missing:
        return None


def _require_own(file: Written, digest: str) -> None:
    if file.shared:
        raise _Left("somebody else changed it between the agent's edits")
    if file.after is None:
        raise _Left("it is not known whether what stands there is what the agent wrote")
    if digest != file.after:
        gone = digest == NOTHING
        why = "it is not there any more" if gone else "it was changed since the agent wrote it"
        raise _Left(why)


async def _before(agent: Agent, file: Written) -> str | None:
    if file.before == NOTHING:
        return None
    try:
        kept = await agent.blobs.get(file.before)
        text = None if kept is None else kept.decode()
    except OSError as error:
        raise _Left(f"what stood there cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise _Left("what was kept of it is damaged") from error
    if text is None or digest_of(text) != file.before:
        raise _Left("what stood there before is not kept any more")
    return text


async def _keep(agent: Agent, now: Snapshot) -> str:
    try:
        return await agent.blobs.put(now.text.encode())
    except OSError as error:
        said = error.strerror or str(error)
        raise _Left(
            f"what stands there could not be kept, so it was not touched: {said}"
        ) from error


async def _apply(agent: Agent, plan: _Plan) -> Applied:
    texts, place, uri = agent.workspace.texts, plan.place, plan.file.uri
    if plan.now is None:
        change = make_change(uri, "", plan.text or "", "create")
    elif plan.text is None:
        return await remove(place, plan.now.digest)
    else:
        # Comparing may take a while in a large file.
        change = await to_thread.run_sync(make_change, uri, plan.now.text, plan.text, "edit")
    return await texts.apply(place, change, tuple(hunk.hunk_id for hunk in change.hunks))
