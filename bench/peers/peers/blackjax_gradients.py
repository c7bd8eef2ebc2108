"""BlackJAX's stochastic gradient samplers with control variates at the mode, in whitened coordinates: SGLD and SGHMC.

Step sizes are fixed. In whitened coordinates SGLD with step h has variance 1/(1 − h/2) for a normal posterior, so h = 0.05 leaves half of
the 0.05 sd that quantiles may be off to the noise of gradients. SGHMC's trajectories have length 0.9; its Euler steps of h add about 30 h² to the variance.
"""

ROWS = 1000
STEP = {"blackjax-sgld-cv": 0.05, "blackjax-sghmc-cv": 0.03}
INTEGRATION = 30


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.jax_posterior import JaxPosterior, scanned
    import blackjax
    import jax
    import jax.numpy as jnp

    target = JaxPosterior(work, work.posterior.laplace())
    rows = len(work.y)

    def estimate(z, some):
        return jax.grad(lambda z: target.log_prior(z) + rows / ROWS * jnp.sum(target.rows(z, some).astype(jnp.float64)))(z)

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
        chosen = jax.random.randint(which, (ROWS,), 0, rows)
        z = sampler.step(noise, z, (data[0][chosen], data[1][chosen]), STEP[name])
        return (z, key), z

    many, carry = scanned(step, 500), (sampler.init(centre), jax.random.PRNGKey(1))
    for _ in range(2):
        carry, _ = jax.block_until_ready(many(carry, target.data))
    recorder.ready()
    while not recorder.over() and len(recorder.pieces) < 400:
        carry, z = jax.block_until_ready(many(carry, target.data))
        recorder.add(target.thetas(z))
    recorder.note(f"{ROWS} rows per gradient, step {STEP[name]}, no accept step: its error stays, however long it runs")
