//! x
#[cfg(test)]
mod tests {
    use crate::theory::*;
    use crate::theory::plan::Plan;
    use crate::rule::*;
    fn table(n: usize, m: usize, eps: f64) -> ErrorTable {
        let plan = Plan::of_settings(&SequentialSettings { statistic: Statistic::Normal, ..SequentialSettings::paper(m, eps) }, n).unwrap();
        ErrorTable::new(&RandomWalk::new(plan, Accuracy::Exact), Accuracy::Exact)
    }
    #[test]
    fn t2() {
        for (mu, s, n, e) in [(-0.0001, 0.02, 10000, 0.05), (0.0002, 0.02, 10000, 0.05), (-5e-5, 0.01, 10000, 0.1), (-5.7e-5, 0.01, 12214, 0.01)] {
            let t = table(n, 500, e);
            println!("{:?} nodes err {}", t.step_of_moments(Law::Metropolis, n, mu, s, 0.0).unwrap(), t.interpolation_error());
        }
        for (d, eps, lam) in [(1.34, 0.01, 1.053), (1.34, 0.05, 1.404), (1.34, 0.1, 3.6), (0.5, 0.05, 1.103), (0.5, 0.2, 1.849), (2.38, 0.01, 1.151)] {
            let t = table(12214, 512, eps);
            for law in [Law::Metropolis, Law::Compensated { lambda: lam }] {
            let g = |l: f64| (t.acceptance(law, l, d).unwrap() / t.acceptance(law, -l, d).unwrap()).ln();
            let slope0 = g(0.01) / 0.01;
            let (mut num, mut den, mut nums, mut dens, mut acc, mut data, mut def, mut defs, mut ws, mut lin) = (0., 0., 0., 0., 0., 0., 0., 0., 0., 0.);
            let (mut sx, mut sy, mut sxy, mut sxx) = (0., 0., 0., 0.);
            for i in -600..=600 {
                let z = i as f64 / 100.0;
                let w = (-0.5 * z * z as f64).exp() * 0.01 / (2.0 * std::f64::consts::PI).sqrt();
                let l = -d * d / 2.0 + d * z;
                let s = t.step(law, l, d).unwrap();
                acc += w * (s.acceptance + s.delta);
                data += w * s.data_usage;
                num += w * g(l) * l;
                den += w * l * l;
                sx += w * l; sy += w * g(l); sxy += w * l * g(l); sxx += w * l * l;
                let wa = w * (s.acceptance + s.delta);
                nums += wa * g(l) * l;
                dens += wa * l * l;
                lin += w * g(l) / l.max(1e-9).abs() * 0.0;
                let (p, q) = (t.acceptance(law, l, d).unwrap(), t.acceptance(law, -l, d).unwrap());
                let de = p / (p + q) - 1.0 / (1.0 + (-l).exp());
                def += w * de.abs();
                ws += wa;
                defs += wa * de.abs();
            }
            println!("D {d} eps {eps} {law:?} slope0 {slope0:.4} ls {:.4} regress {:.4} lsacc {:.4} data {data:.4} acc {acc:.4} defect {def:.5} {:.5} {lin}", num / den, (sxy - sx * sy) / (sxx - sx * sx), nums / dens, defs / ws);
            }
        }
    }
}
