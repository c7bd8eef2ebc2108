#' @export
print.austerity_fit <- function(x, digits = 4, ...) {
  shown <- x$summary[c("name", "mean", "sd", "q025", "q50", "q975", "ess_bulk", "rhat")]
  print(format(shown, digits = digits), row.names = FALSE)
  cat(if (x$trusted) "Trusted.\n" else "NOT TO BE TRUSTED YET:\n")
  for (line in c(x$reasons, x$remarks)) cat(strwrap(line, prefix = "  ", initial = "* "), sep = "\n")
  invisible(x)
}

#' @export
summary.austerity_fit <- function(object, ...) object$summary

#' @export
coef.austerity_fit <- function(object, ...) stats::setNames(object$summary$mean, object$summary$name)

#' @export
as.data.frame.austerity_fit <- function(x, ...) {
  draws <- unclass(x$draws)
  names <- dimnames(draws)$variable
  flat <- matrix(draws, ncol = length(names), dimnames = list(NULL, names))
  place <- expand.grid(draw = seq_len(dim(draws)[1]), chain = seq_len(dim(draws)[2]))
  data.frame(place[c("chain", "draw")], flat, check.names = FALSE)
}

#' Predictions for new rows
#'
#' @param object A fit.
#' @param newdata A data frame or the path of a file, with the columns that the formula names.
#' @param interval Probability of the intervals.
#' @return A data frame: `mean`, `lower`, `upper`, and where there are some `predictive_lower` and `predictive_upper`.
#' @export
predict.austerity_fit <- function(object, newdata, interval = 0.95, ...) {
  files <- as_files(newdata)
  out <- tempfile(fileext = ".csv")
  on.exit(unlink(c(files$temporary, out)))
  run_program(c("predict", object$run, files$paths, "--interval", format_number(interval), "--out", out))
  read.csv(out, check.names = FALSE)
}
