#' Fits a regression that a formula describes
#'
#' Calls `austerity fit` and reads the run. The draws have the form of the package posterior (`draws_array`), which need not be installed.
#'
#' @param formula A formula or a text, such as `y ~ x1 * x2 + C(city)` or `"successes | trials(n) ~ x"`. `factor(x)` is read as `C(x)`.
#' @param data A data frame, or the path of a file, a folder or a pattern of files.
#' @param family Likelihood, such as "logistic", "linear", "poisson" or "weibull". Default: logistic for a response of two values, else linear.
#' @param prior,prior_intercept Priors as texts, such as "normal:2.5".
#' @param priors Priors of single coefficients by name, such as `c(x1 = "normal:1", "city*" = "laplace:0.5")`.
#' @param missing "refuse" (an error that names the first missing value) or "drop".
#' @param draws,chains,warmup,seed Draws per chain, chains, warm-up steps, seed.
#' @param out Folder of the run. Default: a temporary folder.
#' @param ... Further options of `austerity fit`, such as `rule = "exact"` or `standardize = TRUE`.
#' @return An object of class `austerity_fit` with `draws`, `summary`, `trusted`, `reasons`, `remarks` and the folder `run`.
#' @export
austerity_fit <- function(formula, data, family = NULL, prior = NULL, prior_intercept = NULL, priors = NULL, missing = "refuse",
                          draws = NULL, chains = NULL, warmup = NULL, seed = NULL, out = NULL, ...) {
  files <- as_files(data)
  on.exit(unlink(files$temporary))
  if (is.null(out)) out <- tempfile("austerity-run-")
  given <- list(family = family, prior_intercept = prior_intercept, missing = if (!identical(missing, "refuse")) missing, draws = draws, chains = chains, warmup = warmup,
                seed = seed, out = out, ...)
  named <- if (length(priors)) paste0(names(priors), "=", priors) else character()
  prior <- c(prior, named)
  call <- c("fit", files$paths, "--formula", as_formula_text(formula), as.vector(rbind(rep("--prior", length(prior)), prior)),
            as_options(given))
  # 1 means: done, and not to be trusted yet. The verdict says why.
  run_program(call, allowed = c(0L, 1L))
  austerity_open(out)
}

#' Opens the run in a folder
#'
#' @param run Folder of a run that the program, Python or R has made.
#' @return As [austerity_fit()].
#' @export
austerity_open <- function(run) {
  said <- jsonlite::fromJSON(run_program(c("summary", run, "--json"), allowed = c(0L, 1L)))
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  run_program(c("export", run, "--format", "csv", "--out", file))
  table <- read.csv(file, check.names = FALSE)
  structure(list(draws = as_draws(table), summary = said$parameters, trusted = isTRUE(said$trusted), reasons = as.character(said$reasons),
                 remarks = as.character(said$remarks), json = said, run = run), class = "austerity_fit")
}

#' Whether the draws of a fit may be used
#'
#' @param fit A fit.
#' @export
trusted <- function(fit) fit$trusted

#' The program that does the work
#'
#' The option `austerity.program`, else the environment variable AUSTERITY_PROGRAM, else `austerity` on the path.
#'
#' @export
austerity_program <- function() {
  program <- getOption("austerity.program", Sys.getenv("AUSTERITY_PROGRAM", Sys.which("austerity")))
  if (!nzchar(program)) {
    stop("the program `austerity` was not found; install it, or name it with options(austerity.program = \"/path/to/austerity\")", call. = FALSE)
  }
  program
}

# Runs the program; gives what it printed, or stops with what it complained about.
run_program <- function(arguments, allowed = 0L) {
  complaints <- tempfile()
  on.exit(unlink(complaints))
  printed <- suppressWarnings(system2(austerity_program(), shQuote(arguments), stdout = TRUE, stderr = complaints))
  status <- attr(printed, "status")
  if (is.null(status)) status <- 0L
  if (!status %in% allowed) {
    why <- readLines(complaints, warn = FALSE, encoding = "UTF-8")
    stop(sub("^(austerity|error): ", "", paste(why, collapse = "\n")), call. = FALSE)
  }
  paste(printed, collapse = "\n")
}

# Options as they are typed: TRUE is a flag, NULL and FALSE are nothing.
as_options <- function(given) {
  given <- given[!vapply(given, function(value) is.null(value) || identical(value, FALSE), logical(1))]
  one <- function(name) {
    flag <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    value <- given[[name]]
    if (isTRUE(value)) flag else c(flag, paste(format_number(value), collapse = ","))
  }
  unlist(lapply(names(given), one))
}

format_number <- function(value) if (is.numeric(value)) format(value, digits = 17, scientific = FALSE, trim = TRUE) else as.character(value)

# A formula as the text that the program reads.
as_formula_text <- function(formula) {
  if (is.character(formula)) return(formula)
  text <- paste(deparse(formula, width.cutoff = 500L), collapse = " ")
  gsub("\\b(as\\.)?factor\\(", "C(", text)
}

# The files of a table: those that are named, or a temporary one with the columns of a data frame.
as_files <- function(data) {
  if (is.character(data)) return(list(paths = data, temporary = character()))
  if (!is.data.frame(data)) stop("data is a ", class(data)[1], "; give a data frame or the path of a file", call. = FALSE)
  plain <- as.data.frame(lapply(data, as_plain), optional = TRUE, stringsAsFactors = FALSE)
  names(plain) <- names(data)
  if (requireNamespace("arrow", quietly = TRUE)) {
    file <- tempfile("austerity-", fileext = ".parquet")
    arrow::write_parquet(plain, file)
  } else {
    file <- tempfile("austerity-", fileext = ".csv")
    numbers <- vapply(plain, is.numeric, logical(1))
    # Every bit of a number survives.
    plain[numbers] <- lapply(plain[numbers], function(values) ifelse(is.na(values), "", sprintf("%.17g", values)))
    write.table(plain, file, sep = ",", row.names = FALSE, quote = which(!numbers), qmethod = "double", na = "", fileEncoding = "UTF-8")
  }
  list(paths = file, temporary = file)
}

# A column without classes that files do not know: factors are text, logicals 0 and 1, dates days and times seconds since 1970.
as_plain <- function(column) {
  if (is.factor(column)) as.character(column)
  else if (is.logical(column)) as.integer(column)
  else if (inherits(column, c("Date", "POSIXct", "difftime"))) as.numeric(column)
  else if (inherits(column, "POSIXlt")) as.numeric(as.POSIXct(column))
  else column
}

# Draws as an array (iteration, chain, variable), as in the package posterior.
as_draws <- function(table) {
  chains <- sort(unique(table$chain))
  names <- setdiff(names(table), c("chain", "draw"))
  each <- lapply(chains, function(chain) as.matrix(table[table$chain == chain, names, drop = FALSE]))
  count <- nrow(each[[1]])
  draws <- array(NA_real_, c(count, length(chains), length(names)),
                 list(iteration = seq_len(count), chain = seq_along(chains), variable = names))
  for (place in seq_along(chains)) draws[, place, ] <- each[[place]]
  structure(draws, class = c("draws_array", "draws", "array"))
}
