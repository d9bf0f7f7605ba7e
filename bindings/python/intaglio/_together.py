"""Requests of several clients in one run of a model."""

from __future__ import annotations

import asyncio
import dataclasses
from collections import deque

import numpy

from ._rows import RowRunner
from .errors import Error

Table = dict[str, numpy.ndarray]


@dataclasses.dataclass
class _Request:
    table: Table
    rows: int
    answer: asyncio.Future[Table]


class Together:
    """Runs what waits together: up to the model's batch, as soon as the run before has ended.

    Nobody waits for others to come. A request that does not fit the model is refused before it
    meets others.
    """

    def __init__(self, run: RowRunner) -> None:
        self._run = run
        self._waiting: deque[_Request] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def __call__(self, table: Table) -> Table:
        request = _Request(
            table, self._run.check(table), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(request)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await request.answer

    async def _work(self) -> None:
        while self._waiting:
            taken = [self._waiting.popleft()]
            rows = taken[0].rows
            while self._waiting and rows + self._waiting[0].rows <= self._run.batch:
                taken.append(self._waiting.popleft())
                rows += taken[-1].rows
            await self._answer(taken)

    async def _answer(self, taken: list[_Request]) -> None:
        try:
            # In a thread: meanwhile the server goes on to answer and to accept.
            results = await asyncio.to_thread(self._results, taken)
        except Exception as error:
            if isinstance(error, Error) and len(taken) > 1:
                for request in taken:  # the error is one request's own
                    await self._answer([request])
                return
            results = [error] * len(taken)
        for request, result in zip(taken, results):
            if request.answer.done():  # the client has gone
                continue
            if isinstance(result, Exception):
                request.answer.set_exception(result)
            else:
                request.answer.set_result(result)

    def _results(self, taken: list[_Request]) -> list[Table | Exception]:
        if len(taken) == 1:
            return [self._run(taken[0].table)]
        merged = {
            name: numpy.concatenate([request.table[name] for request in taken])
            for name in self._run.columns
        }
        ends = numpy.cumsum([request.rows for request in taken])[:-1]
        parts = {name: numpy.split(array, ends) for name, array in self._run(merged).items()}
        return [{name: parts[name][i] for name in parts} for i in range(len(taken))]
