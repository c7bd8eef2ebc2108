"""The picture of the README: what N costs, in two panels, from docs/measured/scaling.json. Nothing but the standard library.

    python bench/peers/run.py --picture    # measures, writes scaling.json and scaling.svg
    python bench/peers/picture.py          # draws scaling.svg again from scaling.json

Left: effective samples per CPU second (the smaller of bulk and tail ESS) against N. Right: CPU seconds from the Parquet file to 1,000 of
them. A peer that did not finish is drawn by its bound: a hollow marker with an arrow. The paper's test has hollow markers and a dashed
line, since it samples a biased posterior.
"""

import json
import math
import pathlib
from html import escape

import bars
from works import GROWING

WIDTH, HEIGHT, TOP, BOTTOM = 910, 474, 62, 118
#: Left edges of the panels, the width of a plot, and the room for labels at its right.
LEFT, PLOT = (62, 508), 232
INK, FAINT, GRID = "#1f2328", "#57606a", "#d8dee4"
#: Colours that stay apart for colour-blind readers and are dark enough for text on white; each with a marker of its own.
STYLES = {
    "austerity": ("austerity", "#c04a00", "circle"),
    "numpyro-hmcecs": ("HMCECS", "#00735c", "triangle"),
    "laplace-psis": ("Laplace + IS", "#a03a86", "diamond"),
    "numpyro-nuts-whitened": ("NUTS", "#0060a8", "square"),
    "austerity-paper": ("paper’s test (biased)", "#7d6200", "circle"),
    "austerity-exact": ("exact MH", "#57606a", "cross"),
}
BIASED = "austerity-paper"
#: Effective samples of the right panel, and how many a run needs for a point.
COUNT, ENOUGH = 1_000, 100


def points(results):
    """What is drawn: one entry per peer and N, from the results of run.py on one core."""
    out = []
    for r in results["results"]:
        if r["cores"] != 1 or r["work"] not in GROWING or r["peer"] not in STYLES:
            continue
        speed, bounded = bars.rate(r)
        seconds = bars.seconds_to(r, COUNT)
        if bounded or r["verdict"] == "unfinished":
            known = (r.get("unfinished") or {}).get("setup_at_least")
            seconds = seconds or (known and known + r.get("read_cpu", 0))
        elif (r.get("ess") or 0) < ENOUGH:
            continue
        kept = dict(peer=r["peer"], rows=GROWING[r["work"]], rate=speed, seconds=seconds, bound=bounded or r["verdict"] == "unfinished")
        kept.update(verdict=r["verdict"], limit=r.get("limit"), draws=r.get("draws"), ess=r.get("ess"), ess_bulk=r.get("ess_bulk"), ess_tail=r.get("ess_tail"))
        kept.update(read=r.get("read_cpu"), setup=r.get("setup_cpu"), sd_ratio=r.get("sd_ratio"), worst_quantile=r.get("worst_quantile"))
        out.append(kept)
    return out


def write(results, folder):
    """Writes scaling.json and scaling.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    found = dict(
        about="Logistic regression with 20 features and an intercept. rate: effective samples (smaller of bulk and tail ESS, smallest over the parameters) per CPU "
        "second on one core; seconds: CPU seconds from the Parquet file to 1,000 of them; bound: the peer did not finish in `limit` CPU seconds.",
        command="python bench/peers/run.py --picture",
        machine=results["machine"],
        together=results["together"],
        versions=results["versions"],
        points=points(results),
    )
    (folder / "scaling.json").write_text(json.dumps(found, indent=1) + "\n")
    (folder / "scaling.svg").write_text(draw(found))


def number(value):
    """A power of ten as a tick: 0.1, 1, 1,000; beyond, 10⁵."""
    if 1e-3 < value < 1e5:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"
    raised = str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"


def text(x, y, words, size=12, colour=INK, anchor="start", weight=None, more=""):
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{bold}{more}>{escape(words)}</text>'


def marker(kind, x, y, colour, hollow):
    """A marker of about 9 pixels."""
    paint = f'fill="{"#ffffff" if hollow else colour}" stroke="{colour}" stroke-width="1.8"'
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.4" {paint}/>'
    if kind == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {paint}/>'
    shapes = {
        "triangle": [(0, -5.4), (5, 4), (-5, 4)],
        "diamond": [(0, -5.6), (5.6, 0), (0, 5.6), (-5.6, 0)],
        "cross": [(-5, -2), (-2, -2), (-2, -5), (2, -5), (2, -2), (5, -2), (5, 2), (2, 2), (2, 5), (-2, 5), (-2, 2), (-5, 2)],
    }
    return f'<path d="M{" L".join(f"{x + a:.1f},{y + b:.1f}" for a, b in shapes[kind])} Z" {paint}/>'


def spread(wanted, low, high, apart=17):
    """Heights as near as possible to those wanted, `apart` from each other and within the panel; in the order given by `wanted`."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [wanted[i] for i in order]
    for _ in range(200):
        for i in range(1, len(places)):
            lack = apart - (places[i] - places[i - 1])
            if lack > 0:
                places[i - 1] -= lack / 2
                places[i] += lack / 2
        if places:
            places[0], places[-1] = max(places[0], low), min(places[-1], high)
    out = [0.0] * len(wanted)
    for place, i in zip(places, order):
        out[i] = place
    return out


class Panel:
    """One plot with logarithmic axes."""

    def __init__(self, left, found, name):
        self.left, self.name = left, name
        self.points = [p for p in found if p[name]]
        values = [p[name] for p in self.points] or [1.0]
        self.low, self.high = math.floor(math.log10(min(values)) - 0.05), math.ceil(math.log10(max(values)) + 0.05)
        rows = list(GROWING.values())
        self.first, self.last = math.log10(rows[0]), math.log10(rows[-1])

    def x(self, rows):
        return self.left + 10 + (math.log10(rows) - self.first) / (self.last - self.first) * (PLOT - 20)

    def y(self, value):
        return HEIGHT - BOTTOM - (math.log10(value) - self.low) / (self.high - self.low) * (HEIGHT - BOTTOM - TOP)

    def axes(self, title, second):
        out = [text(self.left - 44, 28, title, 14, weight=600), text(self.left - 44, 46, second, 12, FAINT)]
        step = 1 if self.high - self.low <= 8 else 2
        for power in range(self.low, self.high + 1, step):
            y = self.y(10.0**power)
            out.append(f'<path d="M{self.left},{y:.1f} H{self.left + PLOT}" stroke="{GRID}"/>')
            out.append(text(self.left - 7, y + 4, number(10.0**power), 12, FAINT, "end"))
        for rows in GROWING.values():
            out.append(text(self.x(rows), HEIGHT - BOTTOM + 18, exponent(rows), 12, FAINT, "middle"))
        return [*out, text(self.left + PLOT / 2, HEIGHT - BOTTOM + 36, "rows N", 12, FAINT, "middle")]

    def curve(self, peer):
        """Line, markers and arrows of a peer; bounds are joined by dots."""
        _, colour, shape = STYLES[peer]
        mine = sorted((p for p in self.points if p["peer"] == peer), key=lambda p: p["rows"])
        places = [(self.x(p["rows"]), self.y(p[self.name]), p["bound"]) for p in mine]
        out, wide = [], 3.2 if peer == "austerity" else 2
        for (x0, y0, _), (x1, y1, bound) in zip(places, places[1:]):
            dash = ' stroke-dasharray="1.5 4" stroke-linecap="round"' if bound else ' stroke-dasharray="7 4"' if peer == BIASED else ""
            out.append(f'<path d="M{x0:.1f},{y0:.1f} L{x1:.1f},{y1:.1f}" fill="none" stroke="{colour}" stroke-width="{wide}"{dash}/>')
        away = 1 if self.name == "rate" else -1
        for x, y, bound in places:
            if bound:
                tip = y + 17 * away
                out.append(f'<path d="M{x:.1f},{y:.1f} V{tip:.1f} M{x - 4:.1f},{tip - 5 * away:.1f} L{x:.1f},{tip:.1f} L{x + 4:.1f},{tip - 5 * away:.1f}" ')
                out[-1] += f'fill="none" stroke="{colour}" stroke-width="1.8"/>'
            out.append(marker(shape, x, y, colour, bound or peer == BIASED))
        return out, places[-1] if places else None

    def draw(self, title, second):
        out, ends = self.axes(title, second), {}
        for peer in reversed(STYLES):
            lines, end = self.curve(peer)
            out += lines
            if end:
                ends[peer] = end
        names = list(ends)
        heights = spread([ends[peer][1] for peer in names], TOP + 6, HEIGHT - BOTTOM - 4)
        for peer, height in zip(names, heights):
            words, colour, _ = STYLES[peer]
            x, y, _ = ends[peer]
            edge = self.left + PLOT + 4
            out.append(f'<path d="M{x + 7:.1f},{y:.1f} L{edge:.1f},{height:.1f}" stroke="{colour}" stroke-width="0.8"/>')
            out.append(text(edge + 4, height + 4, words, 13 if peer == "austerity" else 12, colour, weight=700 if peer == "austerity" else 600))
        return out


def exponent(rows):
    return f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[round(math.log10(rows))]}"


def footnotes(found):
    """Lines under the panels."""
    lines = ["Logistic regression, 20 features and an intercept, one core. ESS: the smaller of bulk and tail, smallest over all coefficients."]
    lines.append("NUTS and HMCECS: NumPyro in single precision, started at the mode and whitened. IS: Pareto-smoothed importance sampling.")
    wide = [p["sd_ratio"][1] for p in found["points"] if p["peer"] == BIASED and not p["bound"] and p.get("sd_ratio")]
    if wide:
        share = f"{min(wide):.1f}" if f"{min(wide):.1f}" == f"{max(wide):.1f}" else f"{min(wide):.1f} to {max(wide):.1f}"
        lines.append(f"The paper’s test (ε = 0.05) samples a biased posterior: its standard deviations are {share} times the right ones.")
    bounds = [p for p in found["points"] if p["bound"]]
    by = {}
    for p in bounds:
        by.setdefault(round(p["limit"]), []).append(f"{STYLES[p['peer']][0].split(' (')[0]} at {exponent(p['rows'])}")
    told = "; ".join(f"did not finish in {limit} CPU s: {', '.join(names)}" for limit, names in sorted(by.items()))
    lines += _wrapped(f"Arrows are bounds: {told}." if told else "", 128)
    return [line for line in lines if line]


def _wrapped(words, most):
    out = [""]
    for word in words.split():
        if len(out[-1]) + len(word) >= most:
            out.append("")
        out[-1] = f"{out[-1]} {word}".strip()
    return out


def draw(found):
    """The SVG: a white card, so that it reads on light and dark pages."""
    left = Panel(LEFT[0], found["points"], "rate").draw("Effective samples per CPU second", "after set-up; more is better")
    right = Panel(LEFT[1], found["points"], "seconds").draw("CPU seconds to 1,000 effective samples", "file, set-up and summary included; less is better")
    notes = footnotes(found)
    height = HEIGHT - BOTTOM + 62 + 16 * len(notes)
    told = "Effective samples per CPU second, and CPU seconds from file to 1,000 effective samples, against the number of rows."
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        'font-family="-apple-system, BlinkMacSystemFont, \'Segoe UI\', Helvetica, Arial, sans-serif">',
        f"<title>{told}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
    ]
    under = [text(18, HEIGHT - BOTTOM + 62 + 16 * i, line, 12, FAINT) for i, line in enumerate(notes)]
    return "\n".join([*head, *left, *right, *under, "</svg>"]) + "\n"


if __name__ == "__main__":
    measured = pathlib.Path(__file__).resolve().parents[2] / "docs" / "measured"
    (measured / "scaling.svg").write_text(draw(json.loads((measured / "scaling.json").read_text())))
