"""One peer of `stepgap bench-nli`: a Python worker that scores pairs in a process of
its own.

    peer.py NAME --model FOLDER --load FILE --threads N

It answers one JSON object a line on standard output: first what it is, then the
outcome of each command that it reads from standard input:

    {"do": "saturate", "requests": N, "clients": C}   N requests, C at a time
    {"do": "arrive", "requests": N, "rate": R}        N requests, R a second on average
"""

import argparse
import importlib
import json
import os
import sys

from measure import Load

# A peer is a class PEERS[NAME] with __init__(model, load, threads), versions() and
# saturate(requests, clients); online ones have arrive(requests, rate).
PEERS = {
    "bare_ort": "offline:Bare",
    "python_offline": "offline:Worker",
    "crossencoder": "crossencoder:OnnxCrossEncoder",
    "crossencoder_torch": "crossencoder:TorchCrossEncoder",
    "python_online": "online:Worker",
    "python_online_single": "online:Single",
    "infinity": "infinity:Pairs",
    "infinity_classify": "infinity:Texts",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("--model", required=True, help="folder in Hugging Face layout")
    parser.add_argument("--load", required=True, help="requests and gaps, JSON")
    parser.add_argument("--threads", type=int, default=1, help="threads of one batch")
    arguments = parser.parse_args()

    # Libraries print what they like; the answers have a file of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")

    try:
        module, name = PEERS[arguments.name].split(":")
        load = Load.read(arguments.load)
        peer = getattr(importlib.import_module(module), name)(arguments.model, load, arguments.threads)
        peer.saturate(min(len(load.requests), 32), 16)  # warm
        answer({"ready": True, "versions": peer.versions()})
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        raise
    for line in sys.stdin:
        command = json.loads(line)
        if command.pop("do") == "saturate":
            answer(peer.saturate(**command))
        else:
            answer(peer.arrive(**command))


if __name__ == "__main__":
    main()
