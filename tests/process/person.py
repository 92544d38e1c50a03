"""Somebody at a client who sends, steers, cancels, answers and takes back, as a seed decides."""

from typing import Any

import anyio
import anyio.abc

from process.life import Life
from process.world import World
from turnbuckle.lsp import names
from turnbuckle.lsp.client import ServerRefused
from turnbuckle.lsp.protocol import TurnResult
from turnbuckle.lsp.rpc import NoAnswer, Question


class Person:
    """Acts on one session until the server is gone; nobody waits for anything to end."""

    def __init__(self, life: Life, world: World, session_id: str) -> None:
        self.session_id = session_id
        self._life = life
        self._world = world
        self._sent: list[Question] = []

    async def go(self) -> None:
        """Act until the server is killed."""
        async with anyio.create_task_group() as group:
            self._send(group)
            while self._world.fate is not None and not self._world.fate.came.is_set():
                try:
                    await self._let_it_work()
                    self._act(group)
                except NoAnswer:
                    break
                self._world.tick()

    async def _let_it_work(self) -> None:
        """Let some time pass, which is as long as so many questions take to be answered."""
        for _ in range(self._world.rng.choice([1, 2, 4, 8, 16, 32])):
            await self._life.client.request(names.GRANTS, {"sessionId": self.session_id})

    def _act(self, group: anyio.abc.TaskGroup) -> None:
        rng, do = self._world.rng, self._world.rng.random()
        if (asked := self._pending()) and do < 0.8:
            self._ask(group, names.APPROVE, self._decision(rng.choice(asked)))
        elif do < 0.83:
            self._send(group)
        elif do < 0.87:
            keep = self._world.chance(0.5)
            self._ask(group, names.CANCEL, {"sessionId": self.session_id, "keepQueue": keep})
        elif do < 0.89:
            rng.choice(self._sent).cancel()
        elif do < 0.92:
            self._ask(group, names.INBOX_EDIT, self._edit())
        elif do < 0.96:
            self._ask(group, names.SESSION_REWIND, self._rewind())
        elif do < 0.98:
            turn = rng.randrange(4)
            self._ask(group, names.SESSION_FORK, {"sessionId": self.session_id, "turn": turn})
        else:
            self._ask(group, names.SESSION_COMPACT, {"sessionId": self.session_id})

    def _send(self, group: anyio.abc.TaskGroup) -> None:
        when = self._world.rng.choice(["queue", "queue", "steer", "reject"])
        question = self._life.send(self.session_id, "go on", whenBusy=when)
        self._sent.append(question)
        group.start_soon(self._follow, question, self._life.turns)

    def _ask(self, group: anyio.abc.TaskGroup, method: str, params: dict[str, Any]) -> None:
        # Any: JSON
        group.start_soon(self._follow, self._life.client.ask(method, params))

    async def _follow(self, question: Question, turns: list[TurnResult] | None = None) -> None:
        try:
            answer = await question.answer()
        except (NoAnswer, ServerRefused):
            return
        if turns is not None:
            turns.append(TurnResult.model_validate(answer))

    def _pending(self) -> list[dict[str, Any]]:  # Any: JSON
        asked = {}
        for value in self._life.values:
            if value["type"] == "approval/asked":
                asked[value["data"]["approvalId"]] = value["data"]
            elif value["type"] == "approval/decided":
                asked.pop(value["data"]["approvalId"], None)
        return list(asked.values())

    def _decision(self, asked: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
        rng, answer = self._world.rng, {"approvalId": asked["approvalId"]}
        files = asked["subject"].get("files")
        if files and self._world.chance(0.5):
            hunk = rng.choice(files[0]["hunks"])["hunkId"]
            return answer | {"hunks": {hunk: self._world.chance(0.8)}}
        return answer | {"decision": rng.choice(["allow", "allow", "allow", "reject"])}

    def _edit(self) -> dict[str, Any]:  # Any: JSON
        key = f"{self._life.mark}-{self._world.rng.randrange(1, len(self._sent) + 1)}"
        changed: dict[str, Any] = {"input": [{"type": "text", "text": "changed"}]}
        what = changed if self._world.chance(0.6) else {"remove": True}
        return {"sessionId": self.session_id, "key": key} | what

    def _rewind(self) -> dict[str, Any]:  # Any: JSON
        to = (
            {"undo": True} if self._world.chance(0.3) else {"turn": self._world.rng.randrange(1, 8)}
        )
        files = self._world.rng.choice(["keep", "restore"])
        return {"sessionId": self.session_id, "files": files} | to
