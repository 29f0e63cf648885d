"""A Python worker that is sent pairs while it runs: asyncio, a queue, and batches of
what arrived within a few milliseconds."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

from measure import Meter, versions
from model import Model


async def saturated(score, requests, clients):
    """Sends requests, so many clients at a time; returns their answers and latencies."""
    waiting, answers, latencies = iter(range(len(requests))), [None] * len(requests), [0.0] * len(requests)

    async def client():
        for i in waiting:
            start = time.perf_counter()
            answers[i] = await score(requests[i])
            latencies[i] = time.perf_counter() - start

    await asyncio.gather(*(client() for _ in range(clients)))
    return answers, latencies


async def arriving(score, requests, gaps, rate):
    """Sends requests at their times, rate a second on average, whether or not earlier
    ones are answered. A latency counts from the time that a request was due."""
    start, due, sent = time.perf_counter(), 0.0, []

    async def one(request, due):
        answer = await score(request)
        return answer, time.perf_counter() - start - due

    for request, gap in zip(requests, gaps):
        due += gap / rate
        await asyncio.sleep(start + due - time.perf_counter())
        sent.append(asyncio.create_task(one(request, due)))
    return zip(*await asyncio.gather(*sent))


class Online:
    """Measures score(request), a coroutine that a subclass gives."""

    def saturate(self, requests, clients):
        return self.measure(saturated(self.score, self.load.requests[:requests], clients))

    def arrive(self, requests, rate):
        return self.measure(arriving(self.score, self.load.requests[:requests], self.load.gaps, rate))

    def measure(self, sending):
        self.meter = Meter()

        async def running():
            async with self.started():
                with self.meter:
                    return await sending

        answers, latencies = asyncio.run(running())
        return self.meter.outcome([row for answer in answers for row in answer], latencies)


class Worker(Online):
    """Batches of at most MAX_BATCH pairs, in the order of arrival, as soon as there are
    so many or the oldest has waited for WAIT; one batch at a time, on a thread beside
    the loop. 32 pairs and 5 ms are what such workers usually start with."""

    MAX_BATCH = 32
    WAIT = 0.005

    def __init__(self, folder, load, threads):
        self.load = load
        self.model = Model(folder, threads)

    def versions(self):
        return versions("onnxruntime", "tokenizers", "numpy") | {
            "batches": f"at most {self.MAX_BATCH} pairs, {1000 * self.WAIT:.0f} ms"
        }

    async def score(self, pairs):
        loop = asyncio.get_running_loop()
        futures = []
        for pair in pairs:
            futures.append(loop.create_future())
            self.queue.put_nowait((pair, futures[-1]))
        return await asyncio.gather(*futures)

    async def gather(self):
        batch = [await self.queue.get()]
        loop = asyncio.get_running_loop()
        until = loop.time() + self.WAIT
        while len(batch) < self.MAX_BATCH:
            try:
                batch.append(self.queue.get_nowait())
            except asyncio.QueueEmpty:
                try:
                    async with asyncio.timeout_at(until):
                        batch.append(await self.queue.get())
                except TimeoutError:
                    break
        return batch

    def infer(self, pairs):
        feed = self.model.feed(self.model.encode(pairs))
        self.meter.batch(feed["attention_mask"])
        return self.model.run(feed)

    async def serve(self):
        with ThreadPoolExecutor(1) as thread:
            loop = asyncio.get_running_loop()
            while True:
                batch = await self.gather()
                rows = await loop.run_in_executor(thread, self.infer, [pair for pair, _ in batch])
                for (_, future), row in zip(batch, rows):
                    future.set_result(row)

    def started(self):
        return Serving(self)


class Serving:
    """A worker's queue and loop, for one measurement."""

    def __init__(self, worker):
        self.worker = worker

    async def __aenter__(self):
        self.worker.queue = asyncio.Queue()
        self.task = asyncio.create_task(self.worker.serve())

    async def __aexit__(self, *_):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Single(Worker):
    """The same, a pair at a time: no padding, and no wait."""

    MAX_BATCH = 1
