"""One (work, peer) pair in a process of its own; called by run.py.

    python one.py FOLDER PEER LIMIT CORES [SAMPLING]    prints one JSON line, the last of its output; CPU seconds in all and, of those, of sampling
    python one.py make NAME FOLDER [--quick]            makes the data of a work
"""

import json
import pathlib
import sys
import traceback
import warnings

import measure
import peers.registry as registry
import reference
import work as works


def make(arguments):
    name, folder = arguments[0], pathlib.Path(arguments[1])
    try:
        works.store(works.build(name, "--quick" in arguments), folder)
    except works.Skipped as reason:
        print(json.dumps(dict(skipped=str(reason))))
    else:
        print(json.dumps(dict(made=str(folder))))


def pair(folder, name, limit, cores, sampling=None):
    work = works.load(pathlib.Path(folder))
    out = dict(work=work.name, peer=name, cores=int(cores), rows=len(work.y), parameters=work.posterior.size)
    module = registry.module(name)
    reason = module.applies(work, name)
    if reason:
        return dict(out, verdict="not run", notes=[reason])
    registry.load(name)
    recorder = measure.Recorder(float(limit), float(sampling or 0.5 * float(limit)))
    try:
        module.run(work, recorder, name, int(cores))
        return dict(out, **measure.evaluate(work, recorder, reference.load(pathlib.Path(folder))))
    except Exception as error:  # A peer's failure is a result, not the end of the comparison.
        traceback.print_exc()
        return dict(out, verdict="failed", notes=[f"{type(error).__name__}: {str(error)[:300]}"])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    works.pin()
    if sys.argv[1] == "make":
        make(sys.argv[2:])
    else:
        print(json.dumps(pair(*sys.argv[1:6])), flush=True)
