"""BlackJAX's NUTS with its window adaptation, started at the mode in whitened coordinates."""

WARMUP = 300


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.jax_posterior import JaxPosterior, length_for, record, scanned
    import blackjax
    import jax
    import jax.numpy as jnp

    target = JaxPosterior(work, work.posterior.laplace())
    seconds = target.gradient_seconds()
    # Its adaptation is one compiled loop that cannot be looked into: not begun where it cannot end.
    expected = WARMUP * 12 * seconds
    if recorder.now()[0] + expected > 0.75 * recorder.limit:
        recorder.note(f"{seconds * 1e3:.1f} ms per gradient; {WARMUP} warm-up steps not begun")
        recorder.cannot_finish("warm-up", recorder.now()[0] + WARMUP * 4 * seconds, 1 / (4 * seconds))
        return

    def adapt(key, data):
        log_density = lambda z: target.log_density(z, data)
        adaptation = blackjax.window_adaptation(blackjax.nuts, log_density, is_mass_matrix_diagonal=True)
        (state, parameters), _ = adaptation.run(key, jnp.zeros(target.size), num_steps=WARMUP)
        return state, parameters

    key = jax.random.PRNGKey(1)
    state, parameters = jax.block_until_ready(jax.jit(adapt)(key, target.data))
    kernel = blackjax.nuts.build_kernel()

    def step(carry, data):
        state, key, parameters = carry
        key, one = jax.random.split(key)
        state, _ = kernel(one, state, lambda z: target.log_density(z, data), **parameters)
        return (state, key, parameters), state.position

    parameters = {name: parameters[name] for name in ("step_size", "inverse_mass_matrix")}
    many, carry = scanned(step, length_for(10 * seconds)), (state, key, parameters)
    carry, _ = jax.block_until_ready(many(carry, target.data))
    record(recorder, target, many, carry, 2000)
    recorder.note(f"{seconds * 1e3:.2f} ms per gradient")
