"""austerity beside what one would use instead: one command.

    python bench/peers/run.py --quick                       # at most about 10 minutes on two cores, environment not counted
    python bench/peers/run.py --works mnist,hard --peers austerity,numpyro-hmcecs --cores 1

Makes a virtual environment (requirements.txt; what cannot be installed is left out, and said), installs this checkout, makes the data and
reference posteriors (kept in the environment's folder), runs every pair in a process of its own and writes results.json, table.md, plots,
and, with --page, docs/peers.md.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import platform
import queue
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Not part of --quick unless named: relatives of what is, and slower.
SLOW = ["numpyro-nuts", "blackjax-nuts", "blackjax-sghmc-cv", "numpy-exact", "numpy-approximate", "numba-exact"]
#: Part of --quick on MNIST only.
SMALL = ["austerity-certified", "nutpie", "numba-approximate"]
#: CPU seconds on top of the limit: compilation alone takes longer than what --quick gives the others.
LONGER = {"numpyro-hmcecs": 60}
#: The same of single pairs, without --quick: NUTS takes half a second a draw there and should finish.
PATIENT = {(name, "numpyro-nuts-whitened"): 600 for name in ("hard", "hard-2", "hard-3")}
#: Works that --quick leaves out unless they are named.
LARGE = ["logistic-5e6", "hard-2", "hard-3"]
#: Seconds after which --quick begins no further pair.
QUICK = 520


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller works, less time each")
    parser.add_argument("--works", help="names with commas; all unless given")
    parser.add_argument("--peers", help="names with commas; all unless given")
    parser.add_argument("--cores", default="1,2", help="1, 2 or both (with --quick: ours alone on two, unless peers are named)")
    parser.add_argument("--limit", type=float, help="CPU seconds of one pair (120; with --quick 20)")
    parser.add_argument("--together", type=int, help="pairs at a time, each on its own core (1; with --quick as many as there are cores)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "peers")
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "target" / "peers" / "environment")
    parser.add_argument("--wheel", type=pathlib.Path, help="install this instead of the checkout")
    parser.add_argument("--without-ours", action="store_true")
    parser.add_argument("--add", action="store_true", help="to the results in --out; works whose number of rows changed are replaced")
    parser.add_argument("--page", action="store_true", help="write docs/peers.md")
    return parser.parse_args()


def requirements():
    lines = (line.split("#")[0].strip() for line in (HERE / "requirements.txt").read_text().splitlines())
    return [line for line in lines if line]


def environment(options):
    """The Python of the environment, and what could not be installed."""
    folder = options.environment
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = lambda *what: subprocess.run([str(python), "-m", "pip", "install", "-q", *what]).returncode == 0
    mark, missing = folder / "installed.txt", []
    wanted = (HERE / "requirements.txt").read_text()
    if not mark.exists() or mark.read_text() != wanted:
        if not install(*requirements()):
            missing = [one for one in requirements() if not install(one)]
        if not missing:
            mark.write_text(wanted)
    if not options.without_ours and not install("--force-reinstall", "--no-deps", str(options.wheel or ROOT)):
        missing.append("austerity (this checkout)")
        options.without_ours = True
    return python, missing


def surroundings(which):
    """Environment of a process that may use these cores."""
    names = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS"]
    out = {**os.environ, **{name: str(len(which)) for name in names}}
    out.update(PEERS_CORES=",".join(map(str, which)), JAX_PLATFORMS="cpu", PYTHONWARNINGS="ignore")
    out["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false" if len(which) == 1 else ""
    return out


def call(python, words, which, patience):
    """Runs a script of this folder on given cores; its last JSON line, or why there is none."""
    try:
        done = subprocess.run(
            [str(python), *map(str, words)],
            cwd=HERE,
            env=surroundings(which),
            capture_output=True,
            text=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        return dict(verdict="stopped", notes=[f"no end after {patience:.0f} s of wall time"])
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return dict(verdict="failed", notes=[f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"])
    return json.loads(lines[-1])


class Cores:
    """Hands out cores to threads."""

    def __init__(self, together):
        self.all = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count()))
        self.free = queue.Queue()
        for core in self.all[:together]:
            self.free.put(core)

    def run(self, python, words, patience):
        core = self.free.get()
        try:
            return call(python, words, [core], patience)
        finally:
            self.free.put(core)


def merged(old, new):
    """The results of an earlier call with those of this one; per pair the later counts."""
    rows = lambda results: {r["work"]: r["rows"] for r in results if "rows" in r}
    before, after = rows(old["results"]), rows(new["results"])
    fresh = {(r["work"], r["peer"], r["cores"]) for r in new["results"] if r["verdict"] != "not run"}
    changed = {name for name in after if before.get(name) not in (None, after[name])}
    kept = [r for r in old["results"] if r["work"] not in changed and (r["work"], r["peer"], r["cores"]) not in fresh]
    known = {(r["work"], r["peer"], r["cores"]) for r in kept}
    added = [r for r in new["results"] if (r["work"], r["peer"], r["cores"]) not in known]
    skipped = {name: why for name, why in {**old["skipped"], **new["skipped"]}.items() if name not in before and name not in after}
    return {**new, "skipped": skipped, "references": {**old["references"], **new["references"]}, "results": kept + added, "calls": old.get("calls", 1) + 1}


def main():
    options = arguments()
    sys.path.insert(0, str(HERE))
    from peers.registry import NAMES as PEERS
    from works import NAMES as WORKS

    begin = time.time()
    works = options.works.split(",") if options.works else list(WORKS)
    peers = options.peers.split(",") if options.peers else list(PEERS)
    for name, known in [(name, WORKS) for name in works] + [(name, PEERS) for name in peers]:
        if name not in known:
            sys.exit(f"{name} is not known; known are {', '.join(known)}")
    if options.quick and not options.works:
        works = [name for name in works if name not in LARGE]
    if options.quick and not options.peers:
        peers = [name for name in peers if name not in SLOW]
    python, missing = environment(options)
    if options.without_ours:
        peers = [name for name in peers if not name.startswith("austerity")]
    limit = options.limit or (20 if options.quick else 120)
    together = options.together or (len(os.sched_getaffinity(0)) if options.quick else 1)
    cores, begin_runs = Cores(together), time.time()
    cache = options.environment / ("cache-quick" if options.quick else "cache")
    quick = ["--quick"] if options.quick else []
    results, references, skipped = [], {}, {}

    def prepare(name):
        folder = cache / name
        if not (folder / "work.json").exists():
            made = cores.run(python, ["one.py", "make", name, folder, *quick], 1800)
            if "made" not in made:
                return name, made
        if not (folder / "reference.npz").exists():
            words = ["reference.py", folder, "--effort", 1 if options.quick else max(1, limit / 12)] + (["--without-ours"] if options.without_ours else [])
            made = cores.run(python, words, 3600)
            if "made_by" not in made:
                return name, made
        return name, json.loads((folder / "reference.json").read_text())

    def pair(name, peer):
        if options.quick and time.time() - begin_runs > QUICK:
            return dict(work=name, peer=peer, cores=1, verdict="not run", notes=["left out: the time of --quick was over"])
        more = 0 if options.quick else PATIENT.get((name, peer), 0)
        given = limit + LONGER.get(peer, 0) + more
        found = cores.run(python, ["one.py", cache / name, peer, given, 1, 0.5 * (limit + more)], 6 * given + 60)
        return {"work": name, "peer": peer, "cores": 1, **found}

    def show(result):
        rate = result.get("ess_per_cpu")
        text = f"{rate:.3g} effective/CPU s" if rate is not None else ""
        print(f"{time.time() - begin_runs:6.0f} s  {result['work']:14} {result['peer']:22} {result['cores']}  {result['verdict']:10} {text}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(together) as pool:
        for name, about in pool.map(prepare, works):
            if "made_by" in about:
                references[name] = about
            else:
                skipped[name] = about.get("skipped") or " ".join(about.get("notes", ["no data"]))
                print(f"{name}: left out, {skipped[name]}", flush=True)
        wanted = [(name, peer) for peer in peers for name in works if name in references]
        if options.quick and not options.peers:
            wanted = [(name, peer) for name, peer in wanted if name == "mnist" or peer not in SMALL]
        jobs = [pool.submit(pair, name, peer) for name, peer in wanted if "1" in options.cores.split(",")]
        for job in concurrent.futures.as_completed(jobs):
            results.append(job.result())
            show(results[-1])
    if "2" in options.cores.split(",") and len(cores.all) > 1:
        both = [peer for peer in peers if options.peers or not options.quick or peer == "austerity"]
        for name in references:
            for peer in both:
                if options.quick and time.time() - begin_runs > QUICK:
                    break
                found = call(python, ["one.py", cache / name, peer, 2 * limit, 2], cores.all[:2], 6 * limit + 60)
                results.append({"work": name, "peer": peer, "cores": 2, **found})
                show(results[-1])
    machine = dict(processor=platform.processor() or platform.machine(), cores=len(cores.all), load=os.getloadavg()[0])
    freeze = subprocess.run([str(python), "-m", "pip", "freeze"], capture_output=True, text=True).stdout.split()
    wanted = {one.split("==")[0].lower() for one in requirements()}
    out = dict(
        quick=options.quick,
        limit=limit,
        together=together,
        seconds=time.time() - begin_runs,
        machine=machine,
        versions=[one for one in freeze if one.split("==")[0].lower() in wanted],
        missing=missing,
        skipped=skipped,
        references=references,
        results=results,
    )
    options.out.mkdir(parents=True, exist_ok=True)
    if options.add and (options.out / "results.json").exists():
        out = merged(json.loads((options.out / "results.json").read_text()), out)
    out["references"] = {name: out["references"][name] for name in WORKS if name in out["references"]}
    out["results"].sort(key=lambda r: (WORKS.index(r["work"]), r["cores"], PEERS.index(r["peer"])))
    (options.out / "results.json").write_text(json.dumps(out, indent=1))
    words = [str(python), "report.py", str(options.out.resolve())] + ([str(ROOT / "docs")] if options.page else [])
    subprocess.run(words, cwd=HERE, check=True)
    print((options.out / "table.md").read_text())
    print(f"{time.time() - begin:.0f} s in all; {options.out / 'results.json'}, table.md, risk.svg")


if __name__ == "__main__":
    main()
