//! What can be typed after `data`.

use std::path::PathBuf;

use austerity_paper::fetch::DataSet;
use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  austerity data fetch mnist79 --out data
  AUSTERITY_DATA=data austerity reproduce logistic --quick --out paper";

const FETCH_EXAMPLES: &str = "\
Examples:
  austerity data fetch covertype
  austerity data fetch miniboone --out data --from https://mirror.example.org/uci
  austerity data fetch mnist79 --from ~/Downloads        # files fetched in another way
  austerity data fetch covertype --from http://localhost:8000/covtype.data.gz --checksums sums

A second call has nothing to do; a broken download goes on where it ended. Sources are checked by their sha256, unpacked.";

/// Commands about data sets.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Downloads a public data set from its home, checks and prepares it.
    #[command(after_help = FETCH_EXAMPLES)]
    Fetch(FetchOptions),
}

/// Options of `data fetch`.
#[derive(Args, Debug)]
pub(crate) struct FetchOptions {
    /// The data set.
    #[arg(value_name = "NAME", value_parser = names())]
    pub(crate) name: DataSet,
    /// The folder to write to, the one that AUSTERITY_DATA names.
    #[arg(long, value_name = "DIR", env = "AUSTERITY_DATA", default_value = "data")]
    pub(crate) out: PathBuf,
    /// A mirror instead of the home: the address of a folder (or of the file, where there is one only), or a folder on this machine.
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,
    /// What the sources must be, instead of what is known: lines `SHA256  NAME`, as sha256sum writes them, of the unpacked files.
    #[arg(long, value_name = "FILE", conflicts_with = "unchecked")]
    pub(crate) checksums: Option<PathBuf>,
    /// Take whatever comes; its checksum is told and recorded.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Seconds to connect, and the longest silence of a server.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, allow_hyphen_values = true)]
    pub(crate) timeout: f64,
}

fn names() -> impl clap::builder::TypedValueParser<Value = DataSet> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(DataSet::ALL.map(DataSet::name)).try_map(|name| name.parse::<DataSet>())
}
