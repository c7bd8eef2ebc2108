//! Draws on disk: what is written comes back, also after stops at every point.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::draws::{decision, layout, value, values};
use crate::common::{self, Folder};
use austerity::rule::{Decision, Stopped};
use austerity_io::Error;
use austerity_io::run::{
    DrawsReader, DrawsWriter, ExportOptions, Layout, NumberType, StatisticField, export,
};

/// Appends the draws from..to of a chain.
fn append(writer: &mut DrawsWriter, layout: &Layout, chain: usize, draws: std::ops::Range<usize>) {
    let decisions: Vec<Decision> = draws.clone().map(|draw| decision(chain, draw)).collect();
    writer.append(chain, &values(layout, chain, draws), &decisions).unwrap();
}

fn check(reader: &DrawsReader, layout: &Layout, draws: usize) {
    assert_eq!(reader.draws(), draws);
    assert_eq!(reader.names(), layout.kept().iter().map(|&j| layout.names[j].clone()).collect::<Vec<_>>());
    for (position, &original) in layout.kept().iter().enumerate().step_by(1 + layout.names.len() / 40) {
        let found = reader.parameter(position).unwrap();
        assert_eq!(found.len(), layout.chains as usize);
        for (chain, column) in found.iter().enumerate() {
            assert_eq!(column.len(), draws);
            for (draw, &found) in column.iter().enumerate() {
                assert_eq!(
                    found.to_bits(),
                    value(chain, draw, original).to_bits(),
                    "{chain} {draw} {original}"
                );
            }
        }
    }
    let mut seen = 0;
    let kept = layout.kept();
    reader
        .for_each_draws(37, |chain, first, batch| {
            for (row, draw) in batch.chunks_exact(kept.len()).zip(first..) {
                for (&found, &original) in row.iter().zip(&kept) {
                    assert_eq!(found.to_bits(), value(chain, draw, original).to_bits());
                }
                seen += 1;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, draws * layout.chains as usize);
    let used = reader.statistic("data_used").unwrap();
    let flags = reader.statistic("flags").unwrap();
    for chain in 0..layout.chains as usize {
        for draw in 0..draws {
            let decision = decision(chain, draw);
            assert_eq!(used[chain][draw], decision.used as f64);
            let impossible = matches!(decision.stopped, Stopped::Offset | Stopped::Impossible);
            assert_eq!(flags[chain][draw] as u8 & 8 != 0, impossible);
        }
    }
}

#[test]
fn odd_sizes_come_back() {
    let folder = Folder::new("draws-sizes");
    // The coefficients of 300 features are in two blocks of 150: chunks of 32 draws at the least.
    for (case, (features, chains, draws)) in [
        (1, 1, 1),
        (2, 3, 0),
        (300, 1, 31),
        (300, 2, 32),
        (300, 1, 33),
        (300, 2, 65),
        (3000, 2, 17),
        (1, 1, 8193),
    ]
    .into_iter()
    .enumerate()
    {
        let layout = layout(features, chains);
        let path = folder.path(&format!("{case}.zarr"));
        let mut writer = DrawsWriter::create(&path, &layout).unwrap();
        for chain in 0..chains as usize {
            append(&mut writer, &layout, chain, 0..draws);
        }
        writer.finish().unwrap();
        check(&DrawsReader::open(&path).unwrap(), &layout, draws);
    }
}

#[test]
fn chains_of_different_lengths_show_the_shortest_and_reveal_the_rest_later() {
    let folder = Folder::new("draws-lengths");
    let (layout, path) = (layout(300, 3), folder.path("draws.zarr"));
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    let mut drawn = [0_usize; 3];
    for (round, more) in [[1, 40, 7], [0, 0, 90], [64, 3, 0], [33, 70, 31]].into_iter().enumerate() {
        for chain in 0..3 {
            append(&mut writer, &layout, chain, drawn[chain]..drawn[chain] + more[chain]);
            drawn[chain] += more[chain];
            assert_eq!(writer.drawn(chain), drawn[chain] as u64);
        }
        assert!(round == 0 || writer.safe(2) <= drawn[2] as u64);
        writer.flush().unwrap();
        let reader = DrawsReader::open(&path).unwrap();
        check(&reader, &layout, *drawn.iter().min().unwrap());
        let whole = reader.trace_until(&drawn.map(|n| n as u64)).unwrap();
        for (chain, trace) in whole.chains.iter().enumerate() {
            assert_eq!(trace.len(), drawn[chain]);
            assert_eq!(trace.values, values(&layout, chain, 0..drawn[chain]));
        }
        assert!(matches!(
            reader.trace_until(&[drawn[0] as u64, drawn[1] as u64 + 1, 0]),
            Err(Error::DrawsDamaged { chain: 6, .. })
        ));
    }
}

#[test]
fn a_trace_gives_decisions_back() {
    let folder = Folder::new("draws-trace");
    let (layout, path) = (layout(2, 2), folder.path("draws.zarr"));
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    (0..2).for_each(|chain| append(&mut writer, &layout, chain, 0..50));
    writer.finish().unwrap();
    let trace = DrawsReader::open(&path).unwrap().trace().unwrap();
    assert_eq!((trace.len(), &trace.names), (50, &layout.names));
    for (chain, found) in trace.chains.iter().enumerate() {
        for (draw, found) in found.decisions.iter().enumerate() {
            let true_one = decision(chain, draw);
            let bits = |d: &Decision| [d.mean, d.sd, d.threshold].map(f64::to_bits);
            assert_eq!(bits(found), bits(&true_one));
            assert_eq!(
                (found.accepted, found.used, found.looks, found.stopped, found.guarded > 0),
                (true_one.accepted, true_one.used, true_one.looks, true_one.stopped, true_one.guarded > 0)
            );
        }
    }
}

#[test]
fn kept_parameters_and_further_statistics() {
    let folder = Folder::new("draws-keep");
    let path = folder.path("draws.zarr");
    let mut layout = layout(5, 1);
    layout.keep = Some(vec![5, 3, 1, 3]);
    layout.statistics.push(StatisticField::extra("audit_error", NumberType::Float64, "error found"));
    layout.statistics.push(StatisticField::extra("audit_agrees", NumberType::Int8, "−1 where not audited"));
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    let decisions = [decision(0, 0), decision(0, 1)];
    let rows = values(&layout, 0, 0..2);
    assert!(matches!(writer.append(0, &rows, &decisions), Err(Error::Data { .. })));
    writer.append_with(0, &rows, &decisions, &[f64::NAN, -1.0, 0.25, -1.0]).unwrap();
    assert!(writer.append_with(0, &rows[1..], &decisions, &[0.0; 4]).is_err());
    assert!(writer.append_with(1, &rows, &decisions, &[0.0; 4]).is_err());
    writer.flush().unwrap();
    drop(writer);
    // −1 at the end is a value, not padding: both draws are there.
    let writer = DrawsWriter::resume(&path, &layout, &[2]).unwrap();
    writer.finish().unwrap();
    let reader = DrawsReader::open(&path).unwrap();
    check(&reader, &layout, 2);
    assert_eq!(reader.coefficient_names(), ["x1", "x3"]);
    assert_eq!(reader.names(), ["x1", "x3", "sigma"]);
    assert_eq!(reader.statistic("audit_agrees").unwrap(), [[-1.0, -1.0]]);
    let errors = reader.statistic("audit_error").unwrap();
    assert!(errors[0][0].is_nan() && errors[0][1] == 0.25);
    let message = reader.statistic("flag").unwrap_err().to_string();
    assert!(message.contains("`flags`"), "{message}");
}

#[test]
fn layouts_that_cannot_be_stored_are_refused() {
    let folder = Folder::new("draws-layout");
    let path = folder.path("draws.zarr");
    let refused = |change: &dyn Fn(&mut Layout), what: &str| {
        let mut layout = layout(2, 2);
        change(&mut layout);
        let message = DrawsWriter::create(&path, &layout).err().unwrap().to_string();
        assert!(message.contains(what), "{message}");
        assert!(!path.exists());
    };
    refused(&|l| l.names[2] = "../sigma".into(), "../sigma");
    refused(&|l| l.names[2] = "draw".into(), "`draw`");
    refused(&|l| l.names[1] = "x0".into(), "two parameters called `x0`");
    refused(&|l| l.keep = Some(vec![9]), "parameter 10 of 3");
    refused(&|l| l.keep = Some(vec![]), "no parameter");
    refused(&|l| l.chains = 0, "0 chains");
    std::fs::create_dir(&path).unwrap();
    let message = DrawsWriter::create(&path, &layout(2, 2)).err().unwrap().to_string();
    assert!(message.contains("exists already"), "{message}");
}

#[test]
fn thinning_is_even_and_whole() {
    let folder = Folder::new("draws-thin");
    let (layout, path) = (layout(300, 2), folder.path("draws.zarr"));
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    (0..2).for_each(|chain| append(&mut writer, &layout, chain, 0..100));
    writer.finish().unwrap();
    let reader = DrawsReader::open(&path).unwrap();
    let thinned = reader.thinned(3).unwrap();
    assert_eq!(thinned.draws, [0, 33, 66]);
    let expected: Vec<f64> =
        [0, 33, 66].iter().flat_map(|&draw| values(&layout, 1, draw..draw + 1)).collect();
    assert_eq!(thinned.values[1], expected);
    assert_eq!(reader.thinned(1000).unwrap().draws, (0..100).collect::<Vec<_>>());
    assert_eq!(reader.thinned(0).unwrap().draws, [0; 0]);
}

#[test]
fn exports_read_back() {
    let folder = Folder::new("draws-export");
    let path = folder.path("draws.zarr");
    let mut layout = layout(2, 2);
    layout.names[1] = "chain".into();
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    (0..2).for_each(|chain| append(&mut writer, &layout, chain, 0..5000));
    writer.finish().unwrap();
    let reader = DrawsReader::open(&path).unwrap();
    for name in ["draws.csv", "draws.csv.gz", "draws.parquet"] {
        let file = folder.path(name);
        export(&reader, &file, ExportOptions::default()).unwrap();
        let table = austerity_io::table::open(&file).unwrap().read(None).unwrap();
        assert_eq!(table.rows, 10_000);
        assert_eq!(table.names, [".chain", "draw", "x0", "chain", "sigma"]);
        let column = |index: usize| match &table.columns[index] {
            austerity_io::table::Column::Numbers(numbers) => numbers.clone(),
            other => panic!("{other:?}"),
        };
        let (chains, draws, sigma) = (column(0), column(1), column(4));
        for row in 0..10_000 {
            assert_eq!((chains[row], draws[row]), (5.0 + (row / 5000) as f64, (row % 5000) as f64));
            assert_eq!(sigma[row], value(row / 5000, row % 5000, 2));
        }
    }
    // Statistics too; a missing threshold is an empty cell.
    let file = folder.path("all.csv");
    export(&reader, &file, ExportOptions { statistics: true, format: None }).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        ".chain,draw,x0,chain,sigma,accepted,data_used,looks,mu_mean,mu_sd,mu_threshold,flags"
    );
    let ruled_out = (0..5000).find(|&draw| decision(0, draw).stopped == Stopped::Offset).unwrap();
    assert!(lines.nth(ruled_out).unwrap().ends_with(",0,0,0,,,,8"));
    export(&reader, folder.path("all.parquet"), ExportOptions { statistics: true, format: None }).unwrap();
}

#[test]
fn the_estimate_is_what_the_disk_holds() {
    let folder = Folder::new("draws-estimate");
    let (layout, path) = (layout(20, 2), folder.path("draws.zarr"));
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    (0..2).for_each(|chain| append(&mut writer, &layout, chain, 0..3000));
    writer.finish().unwrap();
    let mut bytes = 0;
    for file in common::draws::files(&path) {
        let name = file.to_string_lossy();
        if !name.contains("zarr.json") && !["/chain/", "/draw/", "/feature/"].iter().any(|c| name.contains(c))
        {
            bytes += std::fs::metadata(&file).unwrap().len();
        }
    }
    assert_eq!(bytes, layout.bytes(3000));
}
