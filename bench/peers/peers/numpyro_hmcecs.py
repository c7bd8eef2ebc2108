"""NumPyro's HMC with energy-conserving subsampling, second-order Taylor proxy at the mode, inner NUTS in whitened coordinates."""

BLOCKS, WARMUP, LENGTH = 10, 150, 50


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.jax_posterior import JaxPosterior, scanned
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import HMCECS, NUTS, init_to_value

    target = JaxPosterior(work, work.posterior.laplace())
    # Every row of the batch holds a Hessian: as few as the size of the residuals, which falls with the number of rows, allows.
    batch = 50 if len(work.y) >= 100_000 else 300
    posterior, start = target.posterior, {"z": jnp.zeros(target.size)}

    def model(design, y):
        z = numpyro.sample("z", dist.Normal(0, 1000).expand([target.size]).to_event(1))
        numpyro.factor("prior", target.log_prior(z) + 0.5 * jnp.sum((z / 1000) ** 2))
        with numpyro.plate("rows", design.shape[0], subsample_size=batch):
            some, response = numpyro.subsample(design, event_dim=1), numpyro.subsample(y, event_dim=0)
            beta, s = posterior.split(target.theta(z))
            eta = some @ beta.astype(jnp.float32)
            if posterior.family == "logistic":
                numpyro.sample("y", dist.Bernoulli(logits=eta), obs=response)
            else:
                numpyro.sample("y", dist.StudentT(4.0, eta, jnp.exp(s).astype(jnp.float32)), obs=response)

    inner = NUTS(model, adapt_mass_matrix=False, init_strategy=init_to_value(values=start))
    kernel = HMCECS(inner, num_blocks=BLOCKS, proxy=HMCECS.taylor_proxy(start))
    state = kernel.init(jax.random.PRNGKey(1), WARMUP, None, target.data, {})

    def step(state, data):
        state = kernel.sample(state, data, {})
        return state, state.z["z"]

    many = scanned(step, LENGTH)
    done = 0
    while done < WARMUP:
        before = recorder.now()[0]
        state, z = jax.block_until_ready(many(state, target.data))
        done += LENGTH
        one = recorder.now()[0] - before
        if recorder.over(0.75) and done < WARMUP:
            recorder.note(f"{done} of {WARMUP} warm-up steps in {recorder.now()[0]:.0f} s")
            # The first call compiles: it says nothing about speed.
            rest = (WARMUP - done) / LENGTH * one if done > LENGTH else 0
            recorder.cannot_finish("warm-up", recorder.now()[0] + rest)
            return
    recorder.ready()
    while not recorder.over() and len(recorder.pieces) < 4000:
        state, z = jax.block_until_ready(many(state, target.data))
        recorder.add(target.thetas(z))
    recorder.note(f"{batch} rows per gradient, {BLOCKS} blocks, accepts {float(state.accept_prob):.2f}")
