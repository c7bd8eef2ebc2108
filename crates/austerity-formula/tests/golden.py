"""What formulaic answers to the formulas and functions of golden.json: `pip install formulaic==1.2.2`, then `python golden.py` writes the file anew.

The table has numbers x, z, n and factors a (u, v, w), b (p, q, r) and c (no, yes). A formula is written once, or twice where formulaic
spells an argument otherwise. Names are compared after `normal`: formulaic marks reduced factors with `T.` and keeps arguments as they were typed.
"""

import json
import pathlib
import re

import formulaic
import numpy
import pandas

ROWS = 36
FORMULAS = """
y ~ x
y ~ x + z
y ~ x + z - 1
y ~ 0 + x
y ~ x + 0
y ~ 1
y ~ x - 1 + 1
y ~ a
y ~ a - 1
y ~ 0 + a + b
y ~ a + b
y ~ a + b + c
y ~ b + a
y ~ a:b
y ~ b:a
y ~ 0 + a:b
y ~ a*b
y ~ a + a:b
y ~ b + a:b
y ~ 0 + a*b
y ~ a/b
y ~ a:b:c
y ~ a*b*c
y ~ (a + b + c)^2
y ~ (a + b + c)^2 - a:b
y ~ (a + b + c)**3
y ~ a*b - a
y ~ a*b*c - a:b:c
y ~ a:c + b:c
y ~ x:a
y ~ a:x
y ~ 0 + x:a
y ~ x*a
y ~ x + x:a
y ~ a + x:a
y ~ -1 + a*x
y ~ a*x - x
y ~ (x + z)*a - x
y ~ (x + z)^2
y ~ (x + z + n)^3
y ~ x:z
y ~ x*z*a
y ~ a:b:x
y ~ x + a:b:x
y ~ a:x + b:x
y ~ (a + b):x
y ~ x*x
y ~ x + x
y ~ x^2
y ~ z + x + a:z + x:z
y ~ .
y ~ . - z
y ~ .:x
y ~ C(n)
y ~ C(n) - 1
y ~ C(n)*x
y ~ C(n):a
y ~ C(a, reference="v") => y ~ C(a, contr.treatment(base="v"))
y ~ C(a, reference="w")*x => y ~ C(a, contr.treatment(base="w"))*x
y ~ C(a, reference="v"):b => y ~ C(a, contr.treatment(base="v")):b
y ~ 0 + C(a, reference="v") => y ~ 0 + C(a, contr.treatment(base="v"))
y ~ log(x) + exp(z) + log10(z)
y ~ log(x):a
y ~ I(x*2) + I(x + z)
y ~ I(x^2) => y ~ I(x**2)
y ~ I((x + z)*2 - x/z)
y ~ poly(x, 2)
y ~ poly(x, 3, raw=1) => y ~ poly(x, 3, raw=True)
y ~ poly(x, 2):a
y ~ C(c)*poly(x, 2)
y ~ poly(x, 2)*poly(z, 2)
y ~ bs(x, df=4)
y ~ bs(x, df=5, degree=2)
y ~ bs(x, df=4)*a
y ~ cr(x, df=4)
y ~ scale(x) + center(z)
y ~ scale(x)*a
log(y) ~ x
""".strip().splitlines()


#: Functions of the column `x`, or of the whole numbers `n`, whose values are compared.
VALUES = """
scale(x)
center(x)
poly(x, 1)
poly(x, 3)
poly(x, 6)
poly(n, 3)
bs(x, df=3)
bs(x, df=4)
bs(x, df=6)
bs(x, df=5, degree=2)
bs(x, df=4, degree=1)
bs(x, knots=[1.2, 1.5])
bs(n, df=4)
cr(x, df=3)
cr(x, df=5)
cr(x, knots=[1.3, 1.6])
cr(n, df=3)
""".strip().splitlines()


def table():
    draw = numpy.random.default_rng(1)
    grid = numpy.arange(ROWS)
    return pandas.DataFrame({
        "y": 1 + draw.random(ROWS),
        "x": 1 + draw.random(ROWS),
        "z": 1 + draw.random(ROWS),
        "n": grid % 4,
        "a": numpy.array(["u", "v", "w"])[grid % 3],
        "b": numpy.array(["p", "q", "r"])[grid // 3 % 3],
        "c": numpy.array(["no", "yes"])[grid // 9 % 2],
    })


def normal(name):
    name = name.replace("[T.", "[").replace("Intercept", "intercept").replace("**", "^").replace("raw=True", "raw=1")
    name = re.sub(r", contr\.treatment\(base=['\"]\w+['\"]\)", "", name).replace("df=", "")
    name = re.sub(r"\s", "", name)
    # formulaic counts raw powers from 0 and everything else from 1; we count from 1.
    return re.sub(r"(raw=1\)\[)(\d+)", lambda found: found[1] + str(int(found[2]) + 1), name)


def main():
    data, answers, distinct = table(), [], []
    for line in FORMULAS:
        ours, _, theirs = line.partition(" => ")
        matrix = formulaic.model_matrix(theirs or ours, data).rhs
        rank = int(numpy.linalg.matrix_rank(matrix.to_numpy())) if matrix.shape[1] else 0
        places = []
        for column in matrix.to_numpy(dtype=float).T.tolist():
            if column not in distinct:
                distinct.append(column)
            places.append(distinct.index(column))
        names = [normal(name) for name in matrix.columns]
        answers.append({"formula": ours, "columns": names, "rank": rank, "matrix": places})
    values = []
    for text in VALUES:
        columns = numpy.asarray(formulaic.model_matrix(f"0 + {text}", data), dtype=float)
        values.append({"factor": text, "columns": columns.T.tolist()})
    target = pathlib.Path(__file__).with_name("golden.json")
    rows = ",\n".join("  " + json.dumps(answer) for answer in answers)
    values = ",\n".join("  " + json.dumps(value) for value in values)
    head = f'"formulaic": "{formulaic.__version__}", "table": {json.dumps({name: data[name].tolist() for name in data})}'
    distinct = ",\n".join("  " + json.dumps([int(x) if x == int(x) else x for x in column]) for column in distinct)
    target.write_text(f'{{{head}, "formulas": [\n{rows}\n], "distinct": [\n{distinct}\n], "values": [\n{values}\n]}}\n')
    print(f"{len(answers)} formulas")


if __name__ == "__main__":
    main()
