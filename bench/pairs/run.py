"""Compares the speed of two revisions: builds both, runs them in turn, and prints the median ratio of every figure.

    python bench/pairs/run.py OLD [NEW] [--pairs 10] [--only kernel,flat-in-n,fit] [--least 0.97]

OLD and NEW are git revisions; NEW is the working tree unless given. Each revision is checked out and built under
`target/pairs`. The order within a pair alternates, so a machine that warms up or gets busy slows both sides alike.

| part | figures | larger is better |
|---|---|---|
| kernel | nanoseconds per row of the logistic kernel, in cache and from memory | no |
| flat-in-n | effective samples per CPU second at 10^4, 10^5 and 10^6 rows | yes |
| fit | CPU seconds of `austerity fit` on 10^6 rows and 20 features, from the Parquet file to the verdict | no |

A ratio above 1 means that NEW is faster. The program ends with 1 if a median ratio is below `--least`.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS, FEATURES = 1_000_000, 20


def call(command, folder, **options):
    return subprocess.run(command, cwd=folder, check=True, text=True, stdin=subprocess.DEVNULL, **options)


def checkout(revision):
    """The folder of a revision: a worktree, or the project itself where no revision is named."""
    if revision is None:
        return ROOT
    commit = call(["git", "rev-parse", "--verify", f"{revision}^{{commit}}"], ROOT, stdout=subprocess.PIPE).stdout.strip()
    folder = ROOT / "target" / "pairs" / commit[:12]
    if not folder.exists():
        call(["git", "worktree", "add", "--detach", "--force", str(folder), commit], ROOT)
    return folder


def programs(folder, parts):
    """Builds what the parts need; returns the path of each program."""
    command = ["cargo", "build", "--release", "--workspace", "--message-format=json"]
    wanted = {"kernel": ("--bench", "kernel"), "flat-in-n": ("--bench", "flat-in-n"), "fit": ("--bin", "austerity")}
    for part in parts:
        command += wanted[part]
    output = call(command, folder, stdout=subprocess.PIPE).stdout
    found = {}
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            found[message["target"]["name"]] = message["executable"]
    return {part: found[wanted[part][1]] for part in parts}


def kernel(program, _):
    """Nanoseconds per row; a filter that matches nothing skips criterion's own benches."""
    text = call([program, "--bench", "no-such-bench"], ROOT, stdout=subprocess.PIPE).stdout
    figures = {}
    for place, rest in re.findall(r"^ns per row, (.+?) \(\d+ rows\): (.*)$", text, re.M):
        if place.startswith("third"):
            continue
        for name, value in re.findall(r"(general|small steps|sequential|random blocks) ([\d.]+)", rest):
            figures[f"{place}, {name}"] = 1.0 / float(value)
    return figures


def flat_in_n(program, _):
    """Effective samples per CPU second at every size."""
    text = call([program, "--plain", "--quick"], ROOT, stdout=subprocess.PIPE).stdout
    rows = [line.split() for line in text.splitlines() if re.match(r"^\s*\d+ +\d +[\d.]+s", line)]
    return {f"N = {int(row[0]):,}": float(row[8]) for row in rows}


def fit(program, data):
    """1 / CPU seconds of a whole fit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        command = [program, "fit", data, "--response", "y", "--out", run, "--seed", "1"]
        call(command, ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"file to verdict": 1.0 / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)}


PARTS = {"kernel": kernel, "flat-in-n": flat_in_n, "fit": fit}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--least", type=float, default=0.97)
    options = parser.parse_args()
    parts = options.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown or options.pairs < 1:
        parser.error(f"unknown part {unknown[0]}" if unknown else "--pairs must be at least 1")
    sides = [programs(checkout(revision), parts) for revision in (options.old, options.new)]
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.parquet")
        if "fit" in parts:
            size = ["--rows", str(ROWS), "--features", str(FEATURES)]
            call([sides[1]["fit"], "generate", "logistic", *size, "--seed", "1", "--out", data], ROOT, stdout=subprocess.DEVNULL)
        for part in parts:
            ratios = {}
            for pair in range(options.pairs):
                figures = [None, None]
                for side in (0, 1) if pair % 2 == 0 else (1, 0):
                    figures[side] = PARTS[part](sides[side][part], data)
                for name, old in figures[0].items():
                    ratios.setdefault(name, []).append(figures[1][name] / old)
            for name, values in ratios.items():
                median = statistics.median(values)
                missed |= median < options.least
                verdict = "PASS" if median >= options.least else "FAIL"
                print(f"{part}: {name:<40} new/old {median:.3f} (of {len(values)}: {min(values):.3f} to {max(values):.3f})   ≥ {options.least} {verdict}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
