"""austerity beside what one would use instead: one command.

    python bench/peers/run.py --quick                       # at most about 10 minutes on two cores, environment not counted
    python bench/peers/run.py --brief --page --picture      # at most about 35 minutes on two cores: docs/peers.md and the picture of the README
    python bench/peers/run.py --picture                     # the picture alone: docs/measured/scaling.json and scaling.svg
    python bench/peers/run.py --works mnist,hard --peers austerity,numpyro-hmcecs --cores 1

Makes a virtual environment (requirements.txt; what cannot be installed is left out, and said), installs this checkout, makes the data and
reference posteriors (kept in the environment's folder), runs every pair in a process of its own and writes results.json, table.md, plots,
with --page docs/peers.md, and with --picture the picture.
"""

import argparse
import concurrent.futures
import functools
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
sys.path.insert(0, str(HERE))

import picture  # noqa: E402
import plan  # noqa: E402

#: Seconds after which --quick begins no further pair.
QUICK = 520
#: Outcomes that --keep tries again.
AGAIN = ("failed", "stopped", "not run")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller works, fewer peers, less time each")
    parser.add_argument("--brief", action="store_true", help="works of full size, fewer peers, 30 CPU seconds each, two at a time")
    parser.add_argument("--works", help="names with commas; all unless given")
    parser.add_argument("--peers", help="names with commas; all unless given")
    parser.add_argument("--cores", help="1, 2 or 1,2 [1,2; with --brief and --picture 1; with --quick ours alone on two]")
    parser.add_argument("--limit", type=float, help="CPU seconds of one pair [120; with --quick 20, with --brief and --picture 30]")
    parser.add_argument("--together", type=int, help="pairs at a time, each on its own core [1; with --quick and --brief all cores]")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "peers", help="folder of the results [target/peers]")
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "target" / "peers" / "environment", help="folder of the virtual environment and of the data")
    parser.add_argument("--wheel", type=pathlib.Path, help="install this file instead of the checkout")
    parser.add_argument("--without-ours", action="store_true", help="run the other peers only")
    parser.add_argument("--prepare", action="store_true", help="make data and reference posteriors, then stop: nothing of that is timed")
    parser.add_argument("--add", action="store_true", help="add to the results in --out; works whose number of rows changed are replaced")
    parser.add_argument("--keep", action="store_true", help="as --add, and pairs that the results hold already are not run again")
    parser.add_argument("--page", action="store_true", help="write docs/peers.md")
    parser.add_argument("--picture", action="store_true", help="run the picture's pairs, and write docs/measured/scaling.json and scaling.svg")
    options = parser.parse_args()
    alone = options.brief or options.picture
    options.cores = (options.cores or ("1" if alone else "1,2")).split(",")
    return options


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


class Session:
    """One call: prepares works, runs pairs, keeps what it found."""

    def __init__(self, options, python, missing):
        self.options, self.python, self.missing = options, python, missing
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.together = options.together or (processors if options.quick or options.brief else 1)
        self.cores, self.begin = Cores(self.together), time.time()
        self.cache = options.environment / ("cache-quick" if options.quick else "cache")
        self.results, self.references, self.skipped = [], {}, {}
        kept = options.out / "results.json"
        self.before = json.loads(kept.read_text()) if (options.add or options.keep) and kept.exists() else None

    def prepare(self, name):
        """Data and reference of a work, where they are not there yet."""
        options, folder = self.options, self.cache / name
        if not (folder / "work.json").exists() or not (folder / "data.parquet").exists():
            made = self.cores.run(self.python, ["one.py", "make", name, folder] + (["--quick"] if options.quick else []), 1800)
            if "made" not in made:
                return name, made
        if not (folder / "reference.npz").exists():
            words = ["reference.py", folder, "--effort", 1 if options.quick else max(1, plan.limit(options) / 12)]
            made = self.cores.run(self.python, words + (["--without-ours"] if options.without_ours else []), 3600)
            if "made_by" not in made:
                return name, made
        return name, json.loads((folder / "reference.json").read_text())

    def pair(self, name, peer):
        if self.options.quick and time.time() - self.begin > QUICK:
            return dict(work=name, peer=peer, cores=1, verdict="not run", notes=["left out: the time of --quick was over"])
        given, sampling = plan.seconds(self.options, name, peer)
        found = self.cores.run(self.python, ["one.py", self.cache / name, peer, given, 1, sampling], 6 * given + 120)
        return {"work": name, "peer": peer, "cores": 1, **found}

    def add(self, result):
        self.results.append(result)
        rate = result.get("ess_per_cpu")
        text = f"{rate:.3g} effective/CPU s" if rate is not None else ""
        print(f"{time.time() - self.begin:6.0f} s  {result['work']:14} {result['peer']:22} {result['cores']}  {result['verdict']:10} {text}", flush=True)
        self.save()

    def known(self):
        """Pairs that are not run again."""
        old = self.before["results"] if self.before and self.options.keep else []
        return {(r["work"], r["peer"], r["cores"]) for r in old if r["verdict"] not in AGAIN}

    def run(self, names):
        with concurrent.futures.ThreadPoolExecutor(self.together) as pool:
            for name, about in pool.map(self.prepare, names):
                if "made_by" in about:
                    self.references[name] = about
                else:
                    self.skipped[name] = about.get("skipped") or " ".join(about.get("notes", ["no data"]))
                    print(f"{name}: left out, {self.skipped[name]}", flush=True)
            if self.options.prepare:
                return
            ours = lambda peer: peer.startswith("austerity")
            wanted = [pair for pair in plan.pairs(self.options, names) if pair[0] in self.references and not (self.options.without_ours and ours(pair[1]))]
            jobs = [pool.submit(self.pair, *pair) for pair in wanted if "1" in self.options.cores and (*pair, 1) not in self.known()]
            for job in concurrent.futures.as_completed(jobs):
                self.add(job.result())
        if "2" in self.options.cores and len(self.cores.all) > 1:
            self.run_on_two(wanted)

    def run_on_two(self, wanted):
        limit = plan.limit(self.options)
        for name, peer in wanted:
            late = self.options.quick and time.time() - self.begin > QUICK
            if late or (name, peer, 2) in self.known() or (self.options.quick and not self.options.peers and peer != "austerity"):
                continue
            found = call(self.python, ["one.py", self.cache / name, peer, 2 * limit, 2], self.cores.all[:2], 6 * limit + 120)
            self.add({"work": name, "peer": peer, "cores": 2, **found})

    def save(self):
        """Writes results.json, with those of earlier calls where they are added to; after every pair, so that nothing is lost."""
        options, order = self.options, [*plan.WORKS, *plan.GROWING]
        machine = dict(processor=platform.processor() or platform.machine(), cores=len(self.cores.all), load=os.getloadavg()[0])
        out = dict(
            quick=options.quick,
            words=" ".join(f"--{name}" for name in ("quick", "brief", "page", "picture") if getattr(options, name)),
            limit=plan.limit(options),
            together=self.together,
            seconds=time.time() - self.begin,
            machine=machine,
            versions=versions(self.python),
            missing=self.missing,
            skipped=self.skipped,
            references=self.references,
            results=list(self.results),
        )
        if self.before:
            out = merged(self.before, out)
        out["references"] = {name: out["references"][name] for name in dict.fromkeys(order) if name in out["references"]}
        out["results"].sort(key=lambda r: (order.index(r["work"]), r["cores"], plan.PEERS.index(r["peer"])))
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "results.json").write_text(json.dumps(out, indent=1))
        return out


@functools.cache
def versions(python):
    """The pinned packages as they are installed."""
    freeze = subprocess.run([str(python), "-m", "pip", "freeze"], capture_output=True, text=True).stdout.split()
    wanted = {one.split("==")[0].lower() for one in requirements()}
    return [one for one in freeze if one.split("==")[0].lower() in wanted]


def main():
    options, begin = arguments(), time.time()
    unknown = plan.check(options)
    if unknown:
        sys.exit(unknown)
    session = Session(options, *environment(options))
    session.run(plan.works(options))
    if options.prepare:
        print(f"{time.time() - begin:.0f} s in all; data and references are in {session.cache}")
        return
    results = session.save()
    words = [str(session.python), "report.py", str(options.out.resolve())] + ([str(ROOT / "docs")] if options.page else [])
    if options.picture:
        picture.write(results, ROOT / "docs" / "measured")
    subprocess.run(words, cwd=HERE, check=True)
    print((options.out / "table.md").read_text())
    print(f"{time.time() - begin:.0f} s in all; {options.out / 'results.json'}, table.md, risk.svg")


if __name__ == "__main__":
    main()
