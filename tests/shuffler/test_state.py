"""A running shuffler closes and sends batches by itself, and a failure of the storage does not end it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ldptrace.shuffler import state as module
from ldptrace.shuffler.sender import Request, Sender
from ldptrace.shuffler.state import State
from ldptrace.shuffler.store import SENT
from ldptrace.web.limits import Settings
from ldptrace.web.problems import StorageUnavailable
from shuffler_kit import BATCH, HOUR, NOW, sealed, serving, telling


def test_batches_are_sent_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAINTAIN", 0.001)
    now, plan, sent = [float(NOW)], telling(), list[bytes]()
    store = serving(tmp_path, plan, lambda: now[0])

    def put(request: Request) -> tuple[int, str]:
        sent.append(b"".join(request.body))
        return 200, "{}"

    failures: list[Exception] = [StorageUnavailable("full"), ValueError("whatever"), RecursionError()]
    step = Sender.step

    def failing(self: Sender) -> None:
        if failures:
            raise failures.pop()
        step(self)

    monkeypatch.setattr(Sender, "step", failing)

    async def run() -> None:
        state = State(store, Settings(clock=lambda: now[0]), put)
        state.intake.start()
        maintaining = asyncio.create_task(state.maintain())
        made = [sealed(plan, value) for value in range(BATCH)]
        assert await asyncio.gather(*(state.intake.submit(plan.id, one) for one in made)) == [0] * BATCH
        now[0] += HOUR
        while [one.state for one in await state.call(store.batches)] != [SENT]:
            await asyncio.sleep(0.001)
        maintaining.cancel()
        await asyncio.gather(maintaining, return_exceptions=True)
        await state.stop()
        assert [len(body) for body in sent] == [sum(len(one.body) for one in made)]

    asyncio.run(asyncio.wait_for(run(), 20))
