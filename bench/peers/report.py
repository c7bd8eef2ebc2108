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
VERDICTS = {"correct": "correct", "wrong": "**wrong**", "unknown": "too few draws to tell", "unfinished": "did not finish", "point": "point estimate"}
MEASURES = [("mean", "means"), ("variance", "variances"), ("quantile", "2.5 and 97.5 % quantiles"), ("prediction", "predictions")]
HEAD = ["peer", "posterior", "worst quantile, sd", "sd ratio", "bulk, tail ESS per draw", "ESS per CPU s", "ESS per wall s", "reading s", "set-up s"]
HEAD += ["CPU s from file to 1,000 ESS", "to 10,000 ESS", "risk of means", "of variances", "of quantiles", "of predictions"]


def waits(result):
    """CPU seconds from the file to 1,000 and 10,000 effective samples, as cells; of an approximation, to its answer."""
    if "answer_cpu" in result:
        return [f"{number(result['answer_cpu'])} to its answer", "–"]
    found = [bars.seconds_to(result, count) for count in (1_000, 10_000)]
    return [f"(≥ {number(one)})" if one and result.get("unfinished") else number(one) for one in found]


def row(result):
    """One line of a table."""
    last = (result.get("curve") or [{}])[-1]
    unfinished = result.get("unfinished") or {}
    setup, rate = number(result.get("setup_cpu")), number(result.get("ess_per_cpu"))
    if unfinished.get("setup_at_least"):
        setup = f"(≥ {number(unfinished['setup_at_least'])})"
    if unfinished.get("rate_at_most"):
        rate = f"(≤ {number(unfinished['rate_at_most'])})"
    ratio, draws = result.get("sd_ratio"), result.get("draws")
    worth = "–"
    if "ess_tail" in result:
        worth = f"{number(result['ess_bulk'] / draws, 2)}, {number(result['ess_tail'] / draws, 2)}"
    cells = [
        result["peer"],
        VERDICTS.get(result["verdict"], result["verdict"]),
        number(result.get("worst_quantile"), 2),
        f"{ratio[0]:.2f}–{ratio[2]:.2f}" if ratio else "–",
        worth,
        rate,
        number(result.get("ess_per_wall")),
        number(result.get("read_cpu"), 2),
        setup,
        *waits(result),
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
        out.append(f"**We lose** at first: these answered before our first draws ({number(first)} s): {told}.")
    if any(r["peer"] == "laplace" and r["verdict"] == "correct" for r in others):
        out.append("The normal approximation is right here: if you are content to trust it unchecked, you need no sampler.")
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
    for name, about in sections(results):
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


def sections(results):
    """The works that have a section of their own, and their references; those of the picture alone have none."""
    return [(name, about) for name, about in results["references"].items() if name in TITLES]


def summary(results):
    """All bars, before the details."""
    lines = ["", "## The bars", ""]
    for name, about in sections(results):
        some = [r for r in results["results"] if r["work"] == name and r["cores"] == 1]
        lines += [f"* {TITLES[name]}: {text}" for text in bars.verdicts(name, some, about)] if some else []
    return lines if len(lines) > 3 else []


def plot(results, path):
    """Risks against CPU time, a row of panels per work."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers"})

    names = [n for n, _ in sections(results) if any(r["work"] == n and r.get("curve") for r in results["results"])]
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

This page compares austerity with the samplers and approximations you might use instead, on the same posteriors and the same files. One command measures everything
and writes the page: `python bench/peers/run.py {words}`.

Every peer ran each problem in a process of its own, pinned to one core ({together} at a time; machine load {load:.1f} at the end). Each section gives its limit in CPU
seconds, set-up included. Compare CPU times: wall times depend on what else the machine does.

**How the columns are defined**

* **posterior** is *correct* if every 2.5 % and 97.5 % quantile agrees with the reference. Agreement means within 3.5 Monte Carlo errors or 0.05 posterior standard
  deviations. Runs with fewer than 100 effective samples get no verdict; below 400, where Monte Carlo
  errors are rough, a run is wrong only if as many independent draws would be.
* **ESS** is the smaller of ArviZ' bulk and tail effective sample size, and the smallest over all parameters. Bulk ESS alone flatters antithetic draws: it exceeds the
  number of draws, while their tails are worth no more than those of independent draws. Importance sampling has no tail ESS; its ESS is (Σw)²/Σw².
* A biased sampler has an ESS, too. Read it only if the posterior is correct. The normal approximation, statsmodels, glum and scikit-learn make no draws.
* **ESS per CPU s** counts the time after set-up. Set-up is the search for the mode, compilation and warm-up.
* **CPU s from file to 1,000 (10,000) ESS** counts everything a user waits for: reading the Parquet file, set-up, drawing, and the summary with its diagnostics. For austerity a
  separate run measures it from start to end. For the others it is reading + set-up + draws at the measured rate + ArviZ' summary of those draws. Only imports are not counted.
* **Risks** are mean squared errors at the end of the run: of posterior means and quantiles in posterior standard deviations, of variances in relative terms, of predictive means in
  units of the risk of one draw. They come from one run each and mean nothing below the reference's own error, about 1/ESS.
* **Values in brackets** are bounds for peers that did not finish. They assume one effective sample per four gradients, which is optimistic for NUTS; for a random walk,
  0.331/d effective samples per step in d dimensions, the best that theory allows.

**What helps the peers.** Peers named *whitened*, *cv* or *hmcecs*, the random walks, BlackJAX and emcee start from the mode and covariance of the normal approximation. `numpyro-nuts` and
`nutpie` start cold. Rows are in single precision. Batch and step sizes of HMCECS, SGLD and SGHMC are the best of a few that were tried on plain logistic regression. austerity runs with its
defaults.

PASS and **missed** refer to [bars](../bench/peers/bars.py) that were set before this comparison first ran. They were set for bulk ESS and are now judged by the smaller of bulk and tail.
"""


def scaling(docs):
    """The section with the README's picture and its figures, where those were measured."""
    path = docs / "measured" / "scaling.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text())
    lines = ["", "## Growing N", "", "The same logistic regression with 10⁴ to 10⁷ rows (`python bench/peers/run.py --picture`; [data](measured/scaling.json)).", ""]
    lines += ["![Effective samples per CPU second, and seconds to 1,000 of them, against N](measured/scaling.svg)", ""]
    head = ["peer", "N", "posterior", "sd ratio", "ESS per CPU s", "CPU s from file to 1,000 ESS"]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for p in found["points"]:
        bound = p["bound"]
        rate = "–" if p["rate"] is None else f"(≤ {number(p['rate'])})" if bound else number(p["rate"])
        seconds = "–" if p["seconds"] is None else f"(≥ {number(p['seconds'])})" if bound else number(p["seconds"])
        verdict = f"did not finish in {p['limit']:.0f} CPU s" if bound else VERDICTS.get(p["verdict"], p["verdict"])
        ratio = f"{p['sd_ratio'][0]:.2f}–{p['sd_ratio'][2]:.2f}" if p.get("sd_ratio") else "–"
        lines.append(f"| {p['peer']} | {p['rows']:,} | {verdict} | {ratio} | {rate} | {seconds} |")
    return lines


#: Rows of the short table in the README.
SHORT = {
    "austerity": "austerity",
    "numpyro-nuts-whitened": "NumPyro NUTS, started at the mode",
    "nutpie": "PyMC with nutpie",
    "statsmodels-glm": "statsmodels GLM",
    "glum-glm": "glum",
}


def short(results, name="logistic-1e6"):
    """The table of the README: a few peers on a million rows."""
    found = {r["peer"]: r for r in results["results"] if r["work"] == name and r["cores"] == 1 and r["verdict"] != "not run"}
    lines = ["", "## In short: a million rows, 20 features", "", "| | posterior | ESS per CPU s | CPU s from file to 1,000 ESS |", "|---|---|---|---|"]
    for peer, words in SHORT.items():
        if peer not in found:
            continue
        r, wait = found[peer], waits(found[peer])[0]
        speed, bounded = bars.rate(r)
        drawn = "no draws" if "answer_cpu" in r else f"≤ {number(speed)} (bound)" if bounded else number(speed)
        verdict = VERDICTS.get(r["verdict"], r["verdict"])
        if "answer_cpu" in r:
            verdict = f"normal intervals {'correct' if r['verdict'] == 'correct' else verdict} here"
        lines.append(f"| {words} | {verdict} | {drawn} | {wait.strip('()')} |")
    return lines if len(lines) > 5 else []


def main():
    folder = pathlib.Path(sys.argv[1])
    results = json.loads((folder / "results.json").read_text())
    lines = short(results) + summary(results) + tables(results)
    tail = ["", "Versions: " + ", ".join(results["versions"]) + "."]
    if results["missing"]:
        tail += ["", "Could not be installed and is left out: " + ", ".join(results["missing"]) + "."]
    tail += [f"\nWork left out: {name}, {why}." for name, why in results["skipped"].items()]
    (folder / "table.md").write_text("\n".join(lines + tail) + "\n")
    drawn = plot(results, folder / "risk.svg")
    if len(sys.argv) > 2:
        docs = pathlib.Path(sys.argv[2])
        head = INTRODUCTION.format(words=results.get("words") or "--page", together=results["together"], load=results["machine"]["load"])
        picture = ["", "## Risk against time", "", "![Risks against time](measured/peers.svg)"] if drawn else []
        (docs / "peers.md").write_text("\n".join([head, *short(results), *scaling(docs), *summary(results), *tables(results), *picture, *tail]) + "\n")
        if drawn:
            (docs / "measured").mkdir(exist_ok=True)
            shutil.copy(folder / "risk.svg", docs / "measured" / "peers.svg")


if __name__ == "__main__":
    main()
