"""The works; what names them needs no package."""

NAMES = ["mnist", "logistic-1e6", "logistic-5e6", "hard", "hard-2", "hard-3", "covertype", "student", "laplace-prior"]
