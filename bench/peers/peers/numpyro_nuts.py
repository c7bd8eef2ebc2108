"""NumPyro's NUTS: cold (start at 0, its own warm-up) and helped by the normal approximation (start at the mode, whitened).

The helped one keeps the identity as its mass matrix where priors are normal: 150 steps of warm-up would only add noise to it, and halve its effective
samples at 10⁴ rows. Elsewhere the matrix is adapted, which gives 1.4 times as many on rare features.
"""

import numpy as np

WARMUP = {"numpyro-nuts": 500, "numpyro-nuts-whitened": 150}


def applies(work, name):
    return None


def run(work, recorder, name, cores):
    from peers.jax_posterior import JaxPosterior, length_for, scanned
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import NUTS, init_to_value

    helped = name == "numpyro-nuts-whitened"
    target = JaxPosterior(work, work.posterior.laplace() if helped else None)

    def model(*data):
        z = numpyro.sample("z", dist.ImproperUniform(dist.constraints.real, (), (target.size,)))
        numpyro.factor("posterior", target.log_density(z, data))

    adapt = not helped or work.prior.kind != "normal"
    kernel = NUTS(model, dense_mass=False, adapt_mass_matrix=adapt, init_strategy=init_to_value(values={"z": jnp.zeros(target.size)}), max_tree_depth=10)
    warmup = WARMUP[name]
    state = kernel.init(jax.random.PRNGKey(1), warmup, None, target.data, {})

    def step(state, data):
        state = kernel.sample(state, data, {})
        return state, (state.z["z"], state.num_steps)

    seconds = target.gradient_seconds()
    # Where even trees of three gradients would not get it through warm-up, nothing is begun.
    if recorder.now()[0] + 3 * warmup * seconds > 0.75 * recorder.limit:
        recorder.note(f"warm-up not begun: {seconds * 1e3:.0f} ms per gradient")
        recorder.cannot_finish("warm-up", recorder.now()[0] + 3 * warmup * seconds, 1 / (4 * seconds))
        return
    length = length_for(30 * seconds)
    many = scanned(step, length)
    done = 0
    while done < warmup:
        state, (z, steps) = jax.block_until_ready(many(state, target.data))
        done += length
        if recorder.over(0.75) and done < warmup:
            used = recorder.now()[0]
            recorder.note(f"{done} of {warmup} warm-up steps in {used:.0f} s, {seconds * 1e3:.1f} ms per gradient")
            at_least = used + (warmup - done) * 7 * seconds
            recorder.cannot_finish("warm-up", at_least, 1 / (4 * seconds))
            return
    recorder.ready()
    gradients = []
    while not recorder.over() and len(recorder.pieces) < 2000:
        state, (z, steps) = jax.block_until_ready(many(state, target.data))
        gradients.append(np.mean(steps))
        recorder.add(target.thetas(z))
    recorder.note(f"{seconds * 1e3:.2f} ms per gradient, {np.mean(gradients):.0f} gradients per draw")
