"""Runs a step of the library and the same step of its peers, one after the other, and prints the ratios.

    python bench/steps/run.py [ica] [gibbs] [--rounds 3] [--cargo cargo]

Every program prints JSON lines {"step": ..., "peer": ..., "ns_per_item": ...}. Ours come from `cargo bench -p austerity --bench
STEP`, the peers' from `bench/steps/STEP.py`, run by the Python that runs this file. Times are medians of CPU time on one thread, the
least of several rounds in which all take turns: what else a machine does slows one round more than another. Required: at least 5
times NumPy, 1.5 times vectorised numba. Ends with 1 when a bar is missed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BARS = {"numpy": 5.0, "numba": 1.5}


def lines(command):
    """The JSON lines among what `command` prints."""
    done = subprocess.run(command, cwd=HERE.parent.parent, stdout=subprocess.PIPE, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found.append(json.loads(line))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", nargs="*", help="all that have a file here, unless named")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cargo", default="cargo")
    options = parser.parse_args()
    steps = options.steps or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")
    missed = False
    for step in steps:
        best = {}
        for _ in range(options.rounds):
            ours = lines([options.cargo, "bench", "-q", "-p", "austerity", "--bench", step])
            peers = lines([sys.executable, str(HERE / f"{step}.py")])
            for line in ours + peers:
                peer, time = line["peer"], line["ns_per_item"]
                if line["step"] == step and time <= best.get(peer, {"ns_per_item": time})["ns_per_item"]:
                    best[peer] = line
        own = best.pop("austerity", None)
        if own is None:
            print(f"{step}: the library's bench printed no result", file=sys.stderr)
            missed = True
            continue
        print(json.dumps(own))
        for line in best.values():
            ratio = line["ns_per_item"] / own["ns_per_item"]
            bar = BARS.get(line["peer"])
            verdict = "" if bar is None else f", required {bar}: {'PASS' if ratio >= bar else 'FAIL'}"
            missed |= bar is not None and ratio < bar
            print(json.dumps({**line, "ratio": round(ratio, 2)}) + verdict)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
