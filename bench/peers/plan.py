"""Which pairs of work and peer a call of run.py runs, in which order, and how many CPU seconds each has."""

from peers.registry import NAMES as PEERS
from works import GROWING
from works import NAMES as WORKS

#: Not part of --quick and --brief unless named: relatives of what is, and slower.
SLOW = ["numpyro-nuts", "blackjax-nuts", "blackjax-sghmc-cv", "numpy-exact", "numpy-approximate", "numba-exact", "numba-approximate"]
#: Part of --quick and --brief on some works only.
SOME = {
    "austerity-certified": ["mnist", "logistic-1e6", "hard"],
    "numpyro-nuts": ["mnist"],
    "nutpie": ["mnist", "logistic-1e6"],
    # Without a prior, as people call them: compared where the prior does not matter.
    "statsmodels-glm": ["logistic-1e6"],
    "glum-glm": ["logistic-1e6"],
}
#: The curves of the picture; two of them are drawn nowhere else.
CURVES = ["austerity", "numpyro-nuts-whitened", "numpyro-hmcecs", "laplace-psis", "austerity-exact", "austerity-paper"]
DRAWN = ["austerity-exact", "austerity-paper"]
#: CPU seconds on top of the limit: compilation alone takes longer than what --quick gives the others.
LONGER = {"numpyro-hmcecs": 60}
#: The same of single pairs, without --quick: these take up to half a second a draw and should finish.
PATIENT = {(name, "numpyro-nuts-whitened"): 300 for name in ("hard", "hard-2", "hard-3")}
PATIENT |= {("logistic-1e6", "numpyro-nuts-whitened"): 60, ("logistic-1e6", "nutpie"): 330, ("logistic-1e7", "numpyro-hmcecs"): 90}
PATIENT |= {("logistic-1e6", name): 30 for name in DRAWN}
#: Works that --quick leaves out unless they are named, and those that --brief does.
LARGE, AGAIN = ["logistic-5e6", "hard-2", "hard-3"], ["hard-2", "hard-3"]


def works(options):
    """The works of a call: those named, those of the picture, those of the page."""
    if options.works:
        return options.works.split(",")
    left_out = LARGE if options.quick else AGAIN if options.brief else []
    page = [name for name in WORKS if name not in left_out]
    growing = [name for name in GROWING if options.picture]
    return growing + [name for name in page if name not in growing] if options.page or not growing else growing


def peers(options, work):
    """The peers that a call runs on a work."""
    if options.peers:
        return options.peers.split(",")
    if work not in WORKS or (options.picture and not options.page):
        return CURVES
    drawn = DRAWN if options.picture and work in GROWING else []
    able = [name for name in PEERS if name not in DRAWN or name in drawn]
    if not (options.quick or options.brief):
        return able
    return [name for name in able if (work in SOME[name] if name in SOME else name not in SLOW)]


def limit(options):
    """CPU seconds of a pair, before what some have on top."""
    return options.limit or (20 if options.quick else 30 if options.brief or options.picture else 120)


def seconds(options, work, peer):
    """CPU seconds of a pair, and of those what may go into sampling."""
    more = 0 if options.quick else PATIENT.get((work, peer), 0)
    given = limit(options)
    sampling = 0.5 * (given + more) if peer != "numpyro-hmcecs" else 0.5 * given
    return given + LONGER.get(peer, 0) + more, sampling


def pairs(options, names):
    """All pairs of a call. Those with the most time come first, so that cores are busy until the end; with --quick the works take turns instead."""
    found = [(work, peer) for work in names for peer in peers(options, work)]
    if options.quick:
        return sorted(found, key=lambda pair: PEERS.index(pair[1]))
    return sorted(found, key=lambda pair: -seconds(options, *pair)[0])


def check(options):
    """A sentence about the first name that is not known, or nothing."""
    known_works = [*WORKS, *[name for name in GROWING if name not in WORKS]]
    for given, known in [(options.works, known_works), (options.peers, PEERS)]:
        for name in given.split(",") if given else []:
            if name not in known:
                return f"{name} is not known; known are {', '.join(known)}"
    return None
