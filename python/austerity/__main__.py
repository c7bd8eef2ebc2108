"""The program, with engines of Python: ``python -m austerity fit 'parts/*.parquet' --response y --engine processes:4``."""

import sys

from . import _austerity
from .engines import resolve

if __name__ == "__main__":
    sys.exit(_austerity.program(["austerity", *sys.argv[1:]], resolve))
