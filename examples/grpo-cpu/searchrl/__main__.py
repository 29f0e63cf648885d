"""The command line: trains, measures, and writes the report."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import signal
import sys
import time
from pathlib import Path

from . import report
from .measure import figures
from .memo import Memo
from .pipeline import RESCORED, PipelineError, Scorer, pipeline, program
from .questions import load, split
from .train import Settings, Trainer, Training, rollout_of


def main() -> int:
    """Run it all."""
    parser = argparse.ArgumentParser(prog="searchrl", description=__doc__)
    default = Settings()
    parser.add_argument(
        "--data",
        default=os.environ.get("STEPGAP_DATA"),
        help="folder of the data set; without it our own questions",
    )
    parser.add_argument(
        "--out", default="build/report/grpo-cpu.json", help="the report; the curves stand beside it as .svg"
    )
    parser.add_argument("--readme", help="file to put the table into, between its marks")
    parser.add_argument(
        "--memo", help="file of what was judged already; a run that was cut off goes on from it"
    )
    parser.add_argument("--train", type=int, default=40, help="questions to train on at most")
    parser.add_argument("--seeds", type=int, default=default.seeds)
    parser.add_argument("--updates", type=int, default=default.updates)
    parser.add_argument("--questions", type=int, default=default.questions, help="in a batch")
    parser.add_argument("--group", type=int, default=default.group, help="rollouts of a question")
    options = parser.parse_args()
    # Ended by a signal, it ends the pipeline that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    settings = Settings(
        seeds=options.seeds, updates=options.updates, questions=options.questions, group=options.group
    )
    began = time.monotonic()
    train, held_out = split(load(Path(options.data) if options.data else None))
    train = sorted(train, key=lambda q: hashlib.sha256(q.id.encode()).digest())[: options.train]
    binary = program()
    memo = Memo(judges(binary), Path(options.memo) if options.memo else None)
    before = memo.seconds
    try:
        with pipeline(binary) as url:
            scorer = Scorer(url, binary, memo)
            trainer = Trainer(train, held_out, scorer.score, settings)
            trainer.run(lambda n: say(f"update {n} of {settings.updates}: {memo.steps} steps judged"))
            finals = []
            for training in trainer.trainings:
                episodes = trainer.held_out(training, 1)
                finals.append(figures(episodes, scorer.score([rollout_of(e) for e in episodes])))
            begun = [trainer.held_out(Training("", seed), 1) for seed in range(settings.seeds)]
            start = [figures(es, scorer.score([rollout_of(e) for e in es])) for es in begun]
    except PipelineError as e:
        say(f"error: {e}")
        return 1
    finally:
        memo.close()
    run = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "data": "MuSiQue and HotpotQA" if options.data else "our own questions",
        "train_questions": len(train),
        "held_out_questions": len(held_out),
        "settings": settings.json(),
        "rollouts": scorer.asked,
        "rollouts_judged": len(memo.known),
        "steps_judged": memo.steps,
        "seconds_judging": round(memo.seconds, 1),
        "seconds": round(time.monotonic() - began + before, 1),
        "cores": len(os.sched_getaffinity(0)),
    }
    made = report.make(run, start, trainer.trainings, finals)
    report.write(made, Path(options.out), Path(options.readme) if options.readme else None)
    say(report.table(made))
    return 0


def judges(binary: Path) -> str:
    """A digest of all that labels and rewards depend on here."""
    whole = hashlib.sha256(binary.read_bytes())
    for profile in RESCORED.values():
        whole.update(profile.read_bytes())
    model = Path(os.environ.get("STEPGAP_NLI_MODEL", ""))
    sums = model / "SHA256SUMS"
    whole.update(sums.read_bytes() if sums.is_file() else str(model).encode())
    return whole.hexdigest()


def say(text: str) -> None:
    """To the terminal."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
