"""The works; what names them needs no package."""

NAMES = ["mnist", "logistic-1e6", "logistic-5e6", "hard", "hard-2", "hard-3", "covertype", "student", "laplace-prior"]
#: The same problem at growing N, for the picture in the README; of these only `logistic-1e6` has a section on the page.
GROWING = {"logistic-1e4": 10_000, "logistic-1e5": 100_000, "logistic-1e6": 1_000_000, "logistic-1e7": 10_000_000}
