#!/usr/bin/env python3
"""Serve a GGUF model over an OpenAI-compatible API on the loopback address.

Prints one line, "ready http://127.0.0.1:PORT/v1", once it answers; ends on
SIGTERM or SIGINT. The key is read from STEPGAP_LLM_KEY; without it none is
asked for.
"""

import argparse
import os
import signal
import sys
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, help="path of the GGUF file")
    parser.add_argument("--name", required=True, help="model name that requests are made with")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=1, help="threads that compute (default: %(default)s)")
    parser.add_argument("--slots", type=int, default=1, help="requests decoded at once (default: %(default)s)")
    parser.add_argument("--context", type=int, default=8192, help="tokens of context a slot (default: %(default)s)")
    parser.add_argument("--verbose", action="store_true", help="show the engine's log")
    args = parser.parse_args()

    # Blocked before the engine starts its threads, which inherit the mask: the
    # main thread alone then takes the signal, in sigwait.
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    started = time.monotonic()
    ready = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    if not args.verbose:  # the engine writes to the descriptors themselves
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.dup2(devnull, sys.stderr.fileno())

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = args.model
    params.model_alias = {args.name}
    params.hostnames = ["127.0.0.1"] if isinstance(params.hostnames, list) else "127.0.0.1"
    params.port = args.port
    params.n_parallel = args.slots
    params.n_ctx = args.context * args.slots
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.cache_prompt = True
    params.use_jinja = True
    params.n_predict = 1024  # a bound for requests that set none
    if key := os.environ.get("STEPGAP_LLM_KEY"):
        params.api_keys = [key]
    server = xllamacpp.Server(params)
    print(f"ready {server.listening_address}/v1", file=ready, flush=True)
    print(f"loaded in {time.monotonic() - started:.1f} s", file=ready, flush=True)
    signal.sigwait(signals)
    # The engine's own shutdown waits for open connections; there is no state to save.
    os._exit(0)


if __name__ == "__main__":
    main()
