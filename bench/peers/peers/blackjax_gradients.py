"""BlackJAX's stochastic gradient samplers with control variates at the mode, in whitened coordinates: SGLD and SGHMC.

Fixed step sizes, the longest of a small grid whose quantiles were right on plain logistic regression in runs of 5 seconds. In whitened coordinates SGLD with step h has
variance 1/(1 − h/2) for a normal posterior: h = 0.05 leaves half of what quantiles may be off to the noise of gradients. Steps of SGHMC from 0.01 to
0.1 (trajectories of 0.6 to 1.5, 100 to 1,000 rows) all left the sd 2.5 to 18 % too large: friction makes up for gradient noise only in part.
"""

STEP = {"blackjax-sgld-cv": 0.05, "blackjax-sghmc-cv": 0.03}
INTEGRATION = 30


def batch(work, name):
    """Rows per gradient: the fewest of 30, 100, 300, 1,000 with which they were."""
    return 100 if len(work.y) >= 100_000 and name == "blackjax-sgld-cv" else 300


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.jax_posterior import JaxPosterior, record, scanned
    import blackjax
    import jax
    import jax.numpy as jnp

    target = JaxPosterior(work, work.posterior.laplace())
    rows, some_rows = len(work.y), batch(work, name)

    def estimate(z, some):
        return jax.grad(lambda z: target.log_prior(z) + rows / some_rows * jnp.sum(target.rows(z, some).astype(jnp.float64)))(z)

    centre = jnp.zeros(target.size)
    whole = jax.jit(jax.grad(target.log_density))(centre, target.data)
    controlled = lambda z, some: whole + estimate(z, some) - estimate(centre, some)
    if name == "blackjax-sgld-cv":
        sampler = blackjax.sgld(controlled)
    else:
        sampler = blackjax.sghmc(controlled, num_integration_steps=INTEGRATION, alpha=0.1, beta=0.0)

    def step(carry, data):
        z, key = carry
        key, which, noise = jax.random.split(key, 3)
        chosen = jax.random.randint(which, (some_rows,), 0, rows)
        z = sampler.step(noise, z, (data[0][chosen], data[1][chosen]), STEP[name])
        return (z, key), z

    many, carry = scanned(step, 500), (sampler.init(centre), jax.random.PRNGKey(1))
    for _ in range(2):
        carry, _ = jax.block_until_ready(many(carry, target.data))
    record(recorder, target, many, carry, 400)
    recorder.note(f"{some_rows} rows per gradient, step {STEP[name]}, no accept step: its error stays, however long it runs")
