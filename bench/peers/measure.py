"""The clock of a run, and what its draws are worth: effective samples, risks against time, agreement with the reference.

The effective sample size of a run is the smaller of ArviZ' bulk and tail ESS, smallest over the parameters. Antithetic draws have a bulk ESS above
their number, but their tails are worth no more than those of independent draws.
"""

import time

import numpy as np

PROBABILITIES = (0.025, 0.975)
#: Fewer effective draws than this say nothing about quantiles.
ENOUGH = 100
#: Effective samples from which their errors can be believed (Vehtari et al. 2021).
RELIABLE = 400
#: Importance weights with a larger Pareto k are not to be trusted.
UNRELIABLE = 0.7
#: Agreement of a quantile: within so many Monte Carlo errors, or so many posterior sds.
ERRORS, SDS = 3.5, 0.05
#: Effective samples whose CPU seconds from the file on are reported.
COUNTS = (1_000, 10_000)


class Recorder:
    """Given to a peer: says when time is over, takes draws as they come."""

    def __init__(self, limit, sampling=None):
        self.limit, self.sampling = limit, sampling or 0.5 * limit
        self.restart()
        self.setup = None
        self.pieces = []
        self.notes = []
        self.kind = "draws"
        self.point = None
        self.unfinished = None
        #: CPU seconds of the peer's own summary and the draws it was about; without, ArviZ' summary is timed.
        self.summary = None
        #: `measured(count, draws)`: CPU seconds from the file to so many effective samples, by a run of its own; `draws` is how many should do.
        self.measured = None

    def restart(self):
        """Sets the clock to 0."""
        self.begin = (time.process_time(), time.perf_counter())

    def now(self):
        """CPU and wall seconds since the beginning."""
        return time.process_time() - self.begin[0], time.perf_counter() - self.begin[1]

    def over(self, share=1.0):
        """Whether this share of the CPU time is used up, or what sampling alone may take."""
        cpu = self.now()[0]
        return cpu > share * self.limit or (self.setup is not None and cpu - self.setup[0] > self.sampling)

    def ready(self):
        """Set-up (mode, compilation, warm-up) is over."""
        self.setup = self.now()

    def add(self, draws, log_weights=None):
        """Draws (chains, n, size) that were made since the last call."""
        draws = np.asarray(draws, dtype=np.float64)
        self.pieces.append((self.now(), draws if draws.ndim == 3 else draws[None], log_weights))

    def spread(self, draws, end, parts=60):
        """Draws (chains, n, size) that came evenly between `ready` and `end`."""
        n = draws.shape[1]
        cuts = np.unique(np.linspace(0, n, min(parts, n) + 1).astype(int))
        for a, b in zip(cuts[:-1], cuts[1:]):
            when = tuple(s + (e - s) * b / n for s, e in zip(self.setup, end))
            self.pieces.append((when, draws[:, a:b], None))

    def cannot_finish(self, reason, at_least=None, rate_at_most=None):
        """Set-up would go beyond the time; bounds are extrapolated from what was measured."""
        self.unfinished = dict(reason=reason, setup_at_least=at_least, rate_at_most=rate_at_most)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


def effective(draws):
    """Bulk and tail effective sample size by ArviZ, each the smallest over the parameters; draws are (chains, n, size)."""
    import arviz

    if draws.shape[1] < 8:
        return 0.0, 0.0
    columns = [np.ascontiguousarray(draws[:, :, j]) for j in range(draws.shape[2])]
    return tuple(float(np.nan_to_num(min(arviz.ess(one, method=kind) for one in columns))) for kind in ("bulk", "tail"))


def ess(draws):
    """The smaller of bulk and tail."""
    return min(effective(draws))


def summary_seconds(draws, log_weights, needed):
    """CPU seconds of a summary of the first `needed` draws per chain: effective sample sizes (or smoothed weights), moments, quantiles."""
    n = draws.shape[1]
    used = int(min(max(needed, 8), n))
    part = draws[:, :used]
    effective(draws[:, :8])
    begin = time.process_time()
    weights = None
    if log_weights is None:
        effective(part)
    else:
        from peers.laplace import smooth

        weights = smooth(log_weights[:used])[0]
    moments(part.reshape(-1, part.shape[2]), weights)
    return (time.process_time() - begin) * max(1.0, needed / used)


def from_file(work, recorder, draws, log_weights, found, rate):
    """CPU seconds from the file to 1,000 and 10,000 effective samples: reading, set-up, draws, summary. By a run of its own where the peer makes one."""
    out, made = {}, draws.shape[0] * draws.shape[1]
    for count in COUNTS:
        share = count / found
        seconds = recorder.measured(count, int(np.ceil(share * draws.shape[1]))) if recorder.measured else None
        if seconds is None:
            own = recorder.summary
            check = own[0] * share * made / own[1] if own else summary_seconds(draws, log_weights, int(np.ceil(share * draws.shape[1])))
            seconds = work.reading[0] + recorder.setup[0] + count / rate + check
        out[str(count)] = float(seconds)
    return out


def quantile_errors(draws):
    """Monte Carlo errors of the two quantiles of every parameter, by ArviZ."""
    import arviz

    one = lambda j, p: arviz.mcse(np.ascontiguousarray(draws[:, :, j]), method="quantile", prob=p)
    return np.array([[float(one(j, p)) for j in range(draws.shape[2])] for p in PROBABILITIES])


def independent_errors(ess, variance):
    """Of the same quantiles, from so many independent draws of something like a normal: 0.0584 is its density at ±1.96."""
    spread = np.sqrt(np.array(PROBABILITIES) * (1 - np.array(PROBABILITIES)) / ess) / 0.0584
    return spread[:, None] * np.sqrt(variance)


def weighted_quantiles(values, weights):
    order = np.argsort(values, axis=0)
    out = np.empty((len(PROBABILITIES), values.shape[1]))
    for j in range(values.shape[1]):
        total = np.cumsum(weights[order[:, j]])
        places = np.searchsorted(total, np.array(PROBABILITIES) * total[-1])
        out[:, j] = values[order[np.minimum(places, len(order) - 1), j], j]
    return out


def moments(draws, weights=None):
    """Mean, variance, quantiles of draws (k, size)."""
    if weights is None:
        return draws.mean(0), draws.var(0), np.quantile(draws, PROBABILITIES, axis=0)
    weights = weights / weights.sum()
    mean = weights @ draws
    return mean, weights @ (draws - mean) ** 2, weighted_quantiles(draws, weights)


def risks(found, prediction, reference):
    """Mean squared errors: of means and quantiles in posterior sds, of relative variances, of predictive means in units of one draw's."""
    mean, variance, quantiles = found
    sd = reference["sd"]
    return dict(
        mean=float(np.mean(((mean - reference["mean"]) / sd) ** 2)),
        variance=float(np.mean((variance / sd**2 - 1) ** 2)),
        quantile=float(np.mean(((quantiles - reference["quantiles"]) / sd) ** 2)),
        prediction=float(np.mean((prediction - reference["prediction"]) ** 2) / reference["prediction_v1"]),
    )


class Predictive:
    """Predictive means of the first k pieces; those of earlier pieces are kept."""

    def __init__(self, work, pieces):
        self.work, self.pieces = work, pieces
        self.sum, self.count, self.used = 0.0, 0, 0

    def mean(self, k, weights=None):
        if weights is not None:
            values = [self.work.predictions(piece.reshape(-1, piece.shape[2])) for _, piece, _ in self.pieces[:k]]
            return np.concatenate(values, axis=1) @ (weights / weights.sum())
        for _, piece, _ in self.pieces[self.used : k]:
            flat = piece.reshape(-1, piece.shape[2])
            for begin in range(0, len(flat), 1000):
                self.sum = self.sum + self.work.predictions(flat[begin : begin + 1000]).sum(1)
            self.count += len(flat)
        self.used = k
        return self.sum / self.count


def curve(work, recorder, reference, smooth=None, points=12):
    """Risks at times that grow geometrically from the end of set-up."""
    times = np.array([when[0] for when, _, _ in recorder.pieces])
    if len(times) == 0:
        return []
    wanted = np.unique(np.searchsorted(times, np.geomspace(times[0], times[-1], points), side="right").clip(1))
    out, predictive = [], Predictive(work, recorder.pieces)
    for k in wanted:
        part = recorder.pieces[:k]
        draws = np.concatenate([piece for _, piece, _ in part], axis=1)
        flat = draws.reshape(-1, draws.shape[2])
        weights = None
        if part[0][2] is not None:
            weights = smooth(np.concatenate([w for _, _, w in part]))[0]
        if len(flat) < 4:
            continue
        point = risks(moments(flat, weights), predictive.mean(k, weights), reference)
        out.append(dict(cpu=part[-1][0][0], wall=part[-1][0][1], draws=len(flat), **point))
    return out


def agreement(quantiles, errors, ess, reference):
    """`correct`, `wrong` or `unknown`, and the largest distance of a quantile in posterior sds."""
    distance = np.abs(quantiles - reference["quantiles"]) / reference["sd"]
    allowed = np.maximum(ERRORS * np.hypot(errors, reference["errors"]) / reference["sd"], SDS)
    worst = float(distance.max())
    if ess < ENOUGH:
        return "unknown", worst
    wrong = distance > allowed
    if ess < RELIABLE:
        # The errors themselves are rough: only what as many independent draws would not explain is wrong.
        explained = distance <= ERRORS * independent_errors(ess, np.ones(distance.shape[1]))
        return ("wrong" if (wrong & ~explained).any() else "unknown" if wrong.any() else "correct"), worst
    return ("wrong" if wrong.any() else "correct"), worst


def evaluate(work, recorder, reference):
    """All that is reported of one run."""
    out = dict(notes=recorder.notes, kind=recorder.kind, limit=recorder.limit, read_cpu=work.reading[0])
    out["setup_cpu"], out["setup_wall"] = recorder.setup or (None, None)
    out["total_cpu"], out["total_wall"] = recorder.now()
    if recorder.unfinished:
        out["unfinished"] = recorder.unfinished
    if recorder.kind in ("point", "approximation"):
        out["answer_cpu"] = work.reading[0] + recorder.setup[0]
    if recorder.kind == "point":
        miss = np.mean((work.predictions(recorder.point)[:, 0] - reference["prediction"]) ** 2)
        out["prediction_risk"] = float(miss / reference["prediction_v1"])
        out["verdict"] = "point"
        return out
    if not recorder.pieces or recorder.unfinished:
        out["verdict"] = "unfinished"
        return out
    draws = np.concatenate([piece for _, piece, _ in recorder.pieces], axis=1)
    flat = draws.reshape(-1, draws.shape[2])
    smooth = log_weights = None
    if recorder.pieces[0][2] is not None:
        from peers.laplace import smooth

        log_weights = np.concatenate([w for _, _, w in recorder.pieces])
        weights, khat = smooth(log_weights)
        found = float(weights.sum() ** 2 / (weights**2).sum())
        answer = moments(flat, weights)
        errors = independent_errors(found, answer[1])
        out["pareto_k"] = khat
    else:
        bulk, tail = effective(draws)
        found, answer, errors = min(bulk, tail), moments(flat), quantile_errors(draws)
        if recorder.kind == "draws":
            out["ess_bulk"], out["ess_tail"] = bulk, tail
    (begin, end) = recorder.setup, recorder.pieces[-1][0]
    out["draws"] = len(flat)
    if recorder.kind == "draws":
        out["ess"] = found
        out["ess_per_cpu"] = found / max(end[0] - begin[0], 1e-9)
        out["ess_per_wall"] = found / max(end[1] - begin[1], 1e-9)
        if found > 0:
            out["file_seconds"] = from_file(work, recorder, draws, log_weights, found, out["ess_per_cpu"])
    out["verdict"], out["worst_quantile"] = agreement(answer[2], errors, found, reference)
    if out["verdict"] == "correct" and out.get("pareto_k", 0) > UNRELIABLE:
        out["verdict"] = "unknown"
        recorder.note(f"Pareto k {out['pareto_k']:.2f}: the weights have no reliable mean")
    out["sd_ratio"] = [float(x) for x in np.quantile(np.sqrt(answer[1]) / reference["sd"], [0, 0.5, 1])]
    out["curve"] = curve(work, recorder, reference, smooth)
    return out
