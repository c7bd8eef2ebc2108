# Fits by the package against lm() and glm(), and what goes wrong. The program is that of AUSTERITY_PROGRAM, or the one on the path.
library(austerity)
stop_unless <- function(what, ok) if (!isTRUE(ok)) stop(what, call. = FALSE)
refused <- function(call, words) {
  said <- tryCatch({ force(call); "nothing" }, error = conditionMessage)
  for (word in words) stop_unless(paste0("`", word, "` is missing from: ", said), grepl(word, said, fixed = TRUE))
}

set.seed(1)
n <- 4000
people <- data.frame(x = rnorm(n), city = factor(sample(c("Bonn", "Jena, Ost", "Ulm"), n, TRUE)), late = runif(n) < 0.3,
                     day = as.Date("2024-01-01") + seq_len(n) %% 30)
people$y <- 1 + 0.5 * people$x + 0.3 * (people$city == "Ulm") + rnorm(n)
people$bought <- runif(n) < plogis(people$x - 0.5)

fit <- austerity_fit(y ~ x + city, people, draws = 500, seed = 1)
stop_unless("trusted", trusted(fit))
stop_unless("names", identical(fit$summary$name, c("intercept", "x", "city[Jena, Ost]", "city[Ulm]", "sigma")))
least <- coef(lm(y ~ x + city, people))
stop_unless("the posterior means are those of lm()", all(abs(coef(fit)[1:4] - least) < 0.02))
stop_unless("draws are an array of posterior's form", identical(dim(fit$draws), c(500L, 4L, 5L)) && inherits(fit$draws, "draws_array"))
stop_unless("a data frame of draws", nrow(as.data.frame(fit)) == 2000)
stop_unless("summary and draws agree", abs(mean(unclass(fit$draws)[, , "x"]) - coef(fit)[["x"]]) < 1e-9)
new <- data.frame(x = c(0, 1), city = c("Ulm", "Bonn"))
stop_unless("predictions", all(abs(predict(fit, new)$mean - predict(lm(y ~ x + city, people), new)) < 0.05))
invisible(capture.output(print(fit)))

logistic <- austerity_fit("bought ~ x", people, family = "logistic", priors = c(x = "normal:0,0.001"), draws = 300)
stop_unless("a prior by name", abs(coef(logistic)[["x"]]) < 0.01)
stop_unless("factor() is C()", identical(austerity:::as_formula_text(y ~ x + factor(late)), "y ~ x + C(late)"))

holes <- people
holes$x[3] <- NA
refused(austerity_fit(y ~ x, holes, draws = 100), c("row 3", "missing"))
dropped <- austerity_fit(y ~ x, holes, missing = "drop", draws = 300)
stop_unless("dropped rows are counted", any(grepl("1 of 4000 rows were dropped", dropped$remarks)))
refused(austerity_fit(y ~ x + citty, people), c("no column `citty`", "did you mean `city`"))
refused(austerity_fit(y ~ x, 3), "give a data frame")
refused(austerity_open("nowhere"), "nowhere")

folder <- tempfile("run-")
kept <- austerity_fit(y ~ x, people, draws = 200, chains = 2, out = folder, rule = "exact")
again <- austerity_open(folder)
stop_unless("the same draws", identical(kept$draws, again$draws))
cat("The R package: all checks passed.\n")
