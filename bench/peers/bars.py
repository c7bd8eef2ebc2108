"""The bars that the project set itself for this comparison, and whether they are passed: no figure here moves with the results.

    plain logistic regression     100 × the best correct peer
    rare features, N = 10⁶        1,000 × NUTS, then 4,000 ×, and less risk of variances and quantiles than anybody at every time after our set-up
    MNIST, N = 12,214             10 × Laplace + PSIS, 100 × a cold NUTS
    every other work              10 × the best correct peer

They are judged by effective samples per CPU second after set-up on one core, counted by the smaller of bulk and tail ESS. Beside every ratio stands
that of the CPU seconds from the file to 10,000 effective samples: reading, set-up, draws and summary. That is what a user waits for.
"""

import math

MANY = 10_000
NUTS = ["numpyro-nuts-whitened", "numpyro-nuts", "blackjax-nuts", "nutpie"]
COLD = ["numpyro-nuts", "nutpie"]
#: The rows at which the bars are meant; smaller works of --quick say so.
ROWS = {"hard": 1_000_000, "hard-2": 1_000_000, "hard-3": 1_000_000, "student": 1_000_000, "laplace-prior": 1_000_000, "covertype": 581_012 - 1000}


def number(value, digits=3):
    """A figure of a table: so many significant digits, and no exponent from 0.001 to 10⁸."""
    if value is None:
        return "–"
    if value != 0 and not 1e-3 <= abs(value) < 1e8:
        return f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e")
    if abs(value) < 100:
        return f"{value:,.{digits}g}"
    return f"{round(value, min(0, digits - len(str(int(abs(value)))))):,.0f}"


def percent(share):
    """A share as a percentage of two significant digits, never with an exponent: 100 %, 6 %, 0.00055 %."""
    value = 100 * share
    if value >= 10 or value == 0:
        return f"{value:.0f} %"
    digits = 1 - math.floor(math.log10(abs(value)))
    text = f"{value:.{min(digits, 12)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def ours(result):
    return result["peer"].startswith("austerity")


def best(results, mine):
    """The best correct run by effective samples per CPU second: of ours, or of the others."""
    able = [r for r in results if r["verdict"] == "correct" and r.get("ess_per_cpu") and ours(r) == mine]
    return max(able, key=lambda r: r["ess_per_cpu"], default=None)


def rate(result):
    """Effective samples per CPU second, and whether that is a bound from above because warm-up did not end."""
    bound = (result.get("unfinished") or {}).get("rate_at_most")
    return (bound, True) if bound else (result.get("ess_per_cpu"), False)


def seconds_to(result, many=MANY):
    """CPU seconds from the file to so many effective samples; a bound from below where the peer did not finish."""
    if str(many) in result.get("file_seconds", {}):
        return result["file_seconds"][str(many)]
    speed, bounded = rate(result)
    setup = result["unfinished"].get("setup_at_least") if bounded else result.get("setup_cpu")
    return None if not speed or setup is None else (result.get("read_cpu") or 0) + setup + many / speed


def fastest(results, names):
    """The fastest of these, whether it finished or not; wrong ones do not count."""
    able = [r for r in results if r["peer"] in names and r["verdict"] in ("correct", "unknown", "unfinished") and rate(r)[0]]
    return max(able, key=lambda r: rate(r)[0], default=None)


def strongest(results):
    """The best correct peer; where none was seen to be correct, the fastest that did not finish, by its bound."""
    return best(results, False) or fastest(results, NUTS)


def _bar(times, whom, mine, other, none):
    """One sentence: passed or missed, with the ratios."""
    head = f"at least {times:,} × {whom}"
    if mine is None:
        return f"**missed**: {head}; no run of ours counts as correct."
    if other is None:
        return f"not decided: {head}; {none}."
    speed, bounded = rate(other)
    ratio, sign = mine["ess_per_cpu"] / speed, "≥ " if bounded else ""
    word = "PASS" if ratio >= times else ("not decided" if bounded else "**missed**")
    wait = seconds_to(other) / seconds_to(mine)
    return (
        f"{word}: {head} ({other['peer']}): {sign}{number(ratio)} × per CPU second; from the file to {MANY:,} effective samples "
        f"{sign}{number(wait)} × sooner ({number(seconds_to(mine))} s against {sign}{number(seconds_to(other))} s)."
    )


def at(curve, cpu):
    """The last point of a curve until then."""
    return next((p for p in reversed(curve) if p["cpu"] <= cpu), None)


def floor(name, about):
    """Twice the reference's own squared error, by its effective draws: below, nothing can be told apart."""
    return {"mean": 2, "variance": 4, "quantile": 14, "prediction": 2}[name] / about["ess"]


def _dominated(results, mine, about):
    """Where another had less risk at the same time."""
    found = []
    for r in results:
        if ours(r) or not r.get("curve"):
            continue
        for name in ("variance", "quantile"):
            for point in r["curve"]:
                own = at(mine["curve"], point["cpu"])
                if own and own[name] > max(point[name], floor(name, about)):
                    found.append(f"{r['peer']} at {point['cpu']:.3g} s on {name}s, {point[name]:.2g} against {own[name]:.2g}")
                    break
    return found


def verdicts(work, results, about):
    """Sentences about the bars of one work; `results` are those on one core."""
    mine, other = best(results, True), strongest(results)
    nobody, whom = "no other sampler gave correct quantiles in its time", "the best correct peer"
    if best(results, False) is None:
        whom += " (none was seen to be correct: NUTS by its bound)"
    if work == "mnist":
        psis = next((r for r in results if r["peer"] == "laplace-psis" and r.get("ess_per_cpu")), None)
        out = [_bar(10, "Laplace + PSIS", mine, psis, "it was not run")]
        out.append(_bar(100, "cold NUTS", mine, fastest(results, COLD), "none was run"))
    elif work.startswith("hard"):
        out = [_bar(times, "NUTS", mine, fastest(results, NUTS), "none was run") for times in (1000, 4000)]
        out.append(_bar(10, whom, mine, other, nobody))
        if mine is not None:
            lost = _dominated(results, mine, about)
            head = "less risk of variances and quantiles than every peer at every time after our set-up"
            out.append(f"**missed**: {head}; {'; '.join(lost)}." if lost else f"PASS: {head}.")
    else:
        out = [_bar(100 if work.startswith("logistic") else 10, whom, mine, other, nobody)]
    rows = next((r["rows"] for r in results if "rows" in r), 0)
    if rows < ROWS.get(work, 0):
        out.append(f"The bars are meant at {ROWS[work]:,} rows; here are {rows:,}.")
    return out
