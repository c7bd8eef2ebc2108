"""results.json as a table, plots and a page: `python report.py FOLDER [DOCS]`."""

import json
import pathlib
import shutil
import sys

import bars
from bars import number

TITLES = {
    "mnist": "MNIST 7 against 9",
    "logistic-1e6": "Logistic regression, 10⁶ rows",
    "logistic-5e6": "Logistic regression, 5·10⁶ rows",
    "hard": "Rare features (the hard case)",
    "hard-2": "Rare features, other data",
    "hard-3": "Rare features, other data again",
    "covertype": "Covertype",
    "student": "Student-t regression with outliers",
    "laplace-prior": "Laplace prior, coefficients on the kink",
}
VERDICTS = {"correct": "correct", "wrong": "**wrong**", "unknown": "too few draws to tell", "unfinished": "warm-up not finished"}
MEASURES = [("mean", "means"), ("variance", "variances"), ("quantile", "2.5 and 97.5 % quantiles"), ("prediction", "predictions")]
HEAD = ["peer", "posterior", "worst quantile, sd", "sd ratio", "set-up s", "ESS per CPU s", "ESS per wall s", "CPU s to 10⁴ ESS"]
HEAD += ["risk of means", "of variances", "of quantiles", "of predictions"]


def row(result):
    """One line of a table."""
    last = (result.get("curve") or [{}])[-1]
    unfinished = result.get("unfinished") or {}
    setup, rate = number(result.get("setup_cpu")), number(result.get("ess_per_cpu"))
    if unfinished.get("setup_at_least"):
        setup = f"(≥ {number(unfinished['setup_at_least'])})"
    if unfinished.get("rate_at_most"):
        rate = f"(≤ {number(unfinished['rate_at_most'])})"
    if result["verdict"] == "point":
        setup = number(result.get("setup_cpu"))
    wait = bars.seconds_to(result)
    wait = f"(≥ {number(wait)})" if wait and unfinished else number(wait)
    ratio = result.get("sd_ratio")
    cells = [
        result["peer"],
        VERDICTS.get(result["verdict"], result["verdict"]),
        number(result.get("worst_quantile"), 2),
        f"{ratio[0]:.2f}–{ratio[2]:.2f}" if ratio else "–",
        setup,
        rate,
        number(result.get("ess_per_wall")),
        wait,
        *(number(last.get(name), 2) for name in ("mean", "variance", "quantile")),
        number(result.get("prediction_risk", last.get("prediction")), 2),
    ]
    return "| " + " | ".join(cells) + " |"


def losses(results, about):
    """Sentences: where others were before us, or had less risk than we at the same time; the reference's own error is nobody's loss."""
    mine = bars.best(results, True)
    if mine is None or not mine.get("curve"):
        own = [f"{r['peer']}: {r['verdict']}" for r in results if bars.ours(r)]
        return [f"**We lose**: no run of ours counts as correct here ({', '.join(own)})." if own else "austerity was not run."]
    out, others, first = [], [r for r in results if not bars.ours(r)], mine["curve"][0]["cpu"]
    answer = lambda r: r["curve"][0]["cpu"] if r.get("curve") else r.get("setup_cpu") if r["verdict"] == "point" else None
    earlier = sorted((answer(r), r["peer"]) for r in others if (answer(r) or first) < first)
    if earlier:
        told = ", ".join(f"{peer} ({number(when)} s)" for when, peer in earlier)
        out.append(f"**We lose** at first: before our first draws ({number(first)} s) there were answers of {told}.")
    if any(r["peer"] == "laplace" and r["verdict"] == "correct" for r in others):
        out.append("The normal approximation is right here: who trusts it unchecked needs no sampler.")
    for name, title in MEASURES:
        told = []
        for r in others:
            points = r.get("curve") or []
            if name == "prediction" and "prediction_risk" in r:
                points = [dict(cpu=r["setup_cpu"], prediction=r["prediction_risk"])]
            # An approximation's answer stays as it is; a sampler's is compared when it came.
            times = [(p, max(p["cpu"], first) if r["kind"] in ("approximation", "point") else p["cpu"]) for p in points]
            lost = [(p, when, bars.at(mine["curve"], when)) for p, when in times if when >= first]
            lost = [(p, when, own) for p, when, own in lost if None not in (own[name], p[name]) and own[name] > max(p[name], bars.floor(name, about))]
            if lost:
                p, when, own = lost[0]
                told.append(f"{r['peer']} at {number(when)} s ({number(p[name], 2)} against {number(own[name], 2)})")
        if told:
            out.append(f"**We lose** on the risk of {title} to {', '.join(told)}.")
    return out


def allowed(results):
    """The limits of one core, in words."""
    limits = {r["peer"]: r["limit"] for r in results if r["cores"] == 1 and "limit" in r}
    usual = min(limits.values(), default=0)
    more = [f"{limit:.0f} for {peer}" for peer, limit in limits.items() if limit > usual]
    return f"{usual:.0f} CPU seconds each" + (f" ({', '.join(more)})" if more else "")


def tables(results):
    """Markdown of every work."""
    lines = []
    for name, about in results["references"].items():
        mine = [r for r in results["results"] if r["work"] == name]
        if not mine:
            continue
        rows = next((r["rows"] for r in mine if "rows" in r), 0)
        size = next((r["parameters"] for r in mine if "parameters" in r), 0)
        lines += ["", f"## {TITLES[name]}", "", f"{rows:,} rows, {size} parameters, {allowed(mine)}. "]
        stein, importance = about["stein"], about["importance"]
        text = f"Reference: {about['made_by']}, {about['ess']:,.0f} effective draws; Stein's {stein['identities']} identities on {stein['draws']:,} "
        text += f"draws {'hold' if stein['passed'] else '**fail**'} (largest deviation {stein['largest']:.1f} standard errors)"
        if "passed" in importance:
            text += f"; quantiles of ours and of {importance['ess']:,.0f} effective importance draws {'agree' if importance['passed'] else '**disagree**'}"
        elif importance["pareto_k"] < 0.5:
            text += f"; ours is no check here ({about.get('ours', 'not run')})"
        else:
            text += f"; importance sampling is no check here (Pareto k {importance['pareto_k']:.2f})"
        lines[-1] += text + "."
        for cores in sorted({r["cores"] for r in mine}):
            some = [r for r in mine if r["cores"] == cores]
            lines += ["", f"{'One core' if cores == 1 else f'{cores} cores'}:", "", "| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
            lines += [row(r) for r in some if r["verdict"] != "not run"]
            if cores == 1:
                lines += [""] + [f"* {text}" for text in bars.verdicts(name, some, about) + losses(some, about)]
        lines += [f"* {r['peer']}: {'; '.join(r['notes'])}." for r in mine if r.get("notes") and r["cores"] == 1]
    return lines


def summary(results):
    """All bars, before the details."""
    lines = ["", "## In short", ""]
    for name, about in results["references"].items():
        some = [r for r in results["results"] if r["work"] == name and r["cores"] == 1]
        lines += [f"* {TITLES[name]}: {text}" for text in bars.verdicts(name, some, about)] if some else []
    return lines


def plot(results, path):
    """Risks against CPU time, a row of panels per work."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers"})

    names = [n for n in results["references"] if any(r["work"] == n and r.get("curve") for r in results["results"])]
    if not names:
        return False
    figure, axes = plt.subplots(len(names), 4, figsize=(18, 3.6 * len(names)), squeeze=False)
    peers = sorted({r["peer"] for r in results["results"]}, key=lambda p: (not p.startswith("austerity"), p))
    colours = {p: plt.cm.tab20(i % 20) for i, p in enumerate(peers)}
    for i, name in enumerate(names):
        for j, (measure, title) in enumerate(MEASURES):
            ax = axes[i][j]
            for r in results["results"]:
                if r["work"] != name or r["cores"] != 1:
                    continue
                style = dict(color=colours[r["peer"]], label=r["peer"], lw=2.5 if r["peer"].startswith("austerity") else 1.2)
                points = [p for p in r.get("curve", []) if p[measure] is not None]
                if points:
                    ax.plot([p["cpu"] for p in points], [p[measure] for p in points], marker=".", **style)
                elif measure == "prediction" and "prediction_risk" in r:
                    ax.plot([r["setup_cpu"]], [r["prediction_risk"]], marker="x", **style)
            ax.set(xscale="log", yscale="log", xlabel="CPU seconds, set-up included", title=f"{name}: risk of {title}")
            ax.minorticks_off()
    handles = {label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels())}
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.5 / figure.get_figheight()))
    figure.legend(handles.values(), handles.keys(), loc="upper center", ncol=7, fontsize=9)
    figure.savefig(path)
    return True


INTRODUCTION = """# Beside the others

The same posteriors, on the same data, by what one would use instead. `python bench/peers/run.py --page` makes this page{quick}; figures
and verdicts are written by it. Every pair ran in a process of its own on one core ({together} at a time, machine load {load:.1f} at the end), with so many CPU seconds, set-up
included, as each section says. CPU time is what to compare; wall time suffers from whatever else runs.

How to read it:

* **posterior**: *correct* when all 2.5 and 97.5 % quantiles agree with the reference within 3.5 Monte Carlo errors or 0.05 posterior sds; nothing is
  said of fewer than 100 effective draws.
* **ESS**: ArviZ' bulk effective sample size, the smallest over the parameters, after set-up. Biased samplers have one, too: read it only where
  the posterior is correct. For importance sampling (Σw)²/Σw². The normal approximation makes no effective samples, it is right or not.
* **CPU s to 10⁴ ESS**: set-up and 10,000 effective samples at that rate. At 10⁶ rows most of ours is set-up.
* **risks**: mean squared errors at the end of the run, of posterior means and quantiles in posterior sds, of variances relative, of predictive means in
  units of the risk of one draw. One run each: they carry its chance, and below the reference's own error (about 1/ESS) they say nothing.
* In brackets: not measured but bounded from what was, for warm-up that did not fit into the time; the rate assumes an independent draw every four
  gradients, which is optimistic for NUTS.
* Set-up is mode, compilation and warm-up. Imports and reading the data are not counted for anyone. Peers with *whitened*, *cv* or *hmcecs* in their name, the
  walks, BlackJAX and emcee start from the mode and covariance of the normal approximation, which is a help; numpyro-nuts and nutpie start cold.
  Batches and steps of HMCECS, SGLD and SGHMC are the best of a few that were tried on plain logistic regression, SGLD's on MNIST too; ours are the defaults.
* PASS and **missed** are about [bars](../bench/peers/bars.py) that were set before this comparison ran.
"""


def main():
    folder = pathlib.Path(sys.argv[1])
    results = json.loads((folder / "results.json").read_text())
    lines = summary(results) + tables(results)
    lines += ["", *results["remarks"]] if results.get("remarks") else []
    tail = ["", "Versions: " + ", ".join(results["versions"]) + "."]
    if results["missing"]:
        tail += ["", "Could not be installed and is left out: " + ", ".join(results["missing"]) + "."]
    tail += [f"\nWork left out: {name}, {why}." for name, why in results["skipped"].items()]
    (folder / "table.md").write_text("\n".join(lines + tail) + "\n")
    drawn = plot(results, folder / "risk.svg")
    if len(sys.argv) > 2:
        docs = pathlib.Path(sys.argv[2])
        head = INTRODUCTION.format(
            quick=" (this one in several calls with `--add`, some with `--quick`: smaller works, fewer peers)"
            if results.get("calls", 1) > 1
            else " (this one with `--quick`: smaller works, fewer peers)"
            if results["quick"]
            else "",
            together=results["together"],
            load=results["machine"]["load"],
        )
        picture = ["", "![Risks against time](measured/peers.svg)"] if drawn else []
        (docs / "peers.md").write_text("\n".join([head, *lines, *picture, *tail]) + "\n")
        if drawn:
            (docs / "measured").mkdir(exist_ok=True)
            shutil.copy(folder / "risk.svg", docs / "measured" / "peers.svg")


if __name__ == "__main__":
    main()
