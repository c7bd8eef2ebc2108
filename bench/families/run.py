"""Fits every family of the list to a million rows of 20 features that it generates, and prints a table of CPU time and rows read.

    python bench/families/run.py [--program target/release/austerity] [--rows 1000000] [--features 20] [FAMILY ...]

One fit per family with the default options on one thread: CPU seconds of the whole program (user and system, from the file to the
verdict), rows read per accept/reject decision, decisions that read no row, and the verdict. Required of families without a SIMD kernel: at most 10 CPU s, and most
decisions read no row. Ends with 1 when a bar is missed. Whether the posteriors are right is what the tests `every_family_finds_the_integrals`
(quadrature) and `calibration` (simulation) say.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 10.0


def families():
    """Every choice of the documentation's table, once."""
    text = (ROOT / "docs" / "families.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| [a-z-]+ \| `([a-z-]+)` \|", text, flags=re.MULTILINE)
    return list(dict.fromkeys(found))


def timed(command):
    """CPU seconds of a command, its exit code and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", help="all of docs/families.md, unless named")
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "austerity"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=20)
    options = parser.parse_args()
    missed = False
    folder = pathlib.Path(tempfile.mkdtemp(prefix="austerity-families-", dir=os.environ.get("TMPDIR")))
    try:
        print("| family | CPU s | rows read per decision | decisions that read no row | trusted |\n|---|---|---|---|---|")
        for family in options.families or families():
            data, run = folder / "data.parquet", folder / family
            shape = ["--rows", str(options.rows), "--features", str(options.features), "--seed", "1"]
            subprocess.run([options.program, "generate", family, *shape, "--out", str(data)], check=True, stdout=subprocess.DEVNULL)
            fit = [options.program, "fit", str(data), "--response", "y", "--family", family, "--threads", "1", "--seed", "1", "--out", str(run)]
            seconds, code, said = timed(fit)
            if code not in (0, 1):
                print(said, file=sys.stderr)
                missed = True
                continue
            read = re.search(r"decision read ([\d.,]+ ?%?) of the|decisions read no rows", said)
            rows = (read.group(1) or "0") if read else "?"
            without = re.search(r"([\d.]+ ?%) of the decisions were certain", said)
            print(f"| {family} | {seconds:.1f} | {rows} | {without.group(1) if without else '–'} | {'yes' if code == 0 else 'no'} |", flush=True)
            missed |= seconds > SECONDS or code != 0
            shutil.rmtree(run, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
