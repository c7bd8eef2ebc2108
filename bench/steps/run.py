"""Runs a step of the library and the same step of its peers, one after the other, and prints the ratios.

    python bench/steps/run.py [ica] [gibbs] [--cargo cargo]

Every program prints JSON lines {"step": ..., "peer": ..., "ns_per_item": ...}. Ours come from `cargo bench -p austerity --bench
STEP`, the peers' from `bench/steps/STEP.py`, run by the Python that runs this file. Times are medians of CPU time on one thread;
run it on a quiet machine. Required: at least 5 times NumPy, 1.5 times vectorised numba. Ends with 1 when a bar is missed.
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
    parser.add_argument("--cargo", default="cargo")
    options = parser.parse_args()
    steps = options.steps or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")
    missed = False
    for step in steps:
        ours = [line for line in lines([options.cargo, "bench", "-q", "-p", "austerity", "--bench", step]) if line["step"] == step]
        if not ours:
            print(f"{step}: the library's bench printed no result", file=sys.stderr)
            missed = True
            continue
        time = ours[-1]["ns_per_item"]
        print(json.dumps(ours[-1]))
        for line in lines([sys.executable, str(HERE / f"{step}.py")]):
            ratio = line["ns_per_item"] / time
            bar = BARS.get(line["peer"])
            verdict = "" if bar is None else f", required {bar}: {'PASS' if ratio >= bar else 'FAIL'}"
            missed |= bar is not None and ratio < bar
            print(json.dumps({**line, "ratio": round(ratio, 2)}) + verdict)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
