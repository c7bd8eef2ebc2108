//! What can be fetched: the data sets of the paper's experiments and of this project, their homes, and the sha256 of every source.
//!
//! * **mnist79**: MNIST (Y. LeCun, C. Cortes, C. J. C. Burges), the digits 7 and 9 (paper, section 6.1): images, and the scores on the
//!   first 50 principal components.
//! * **miniboone**: MiniBooNE particle identification (B. Roe; UCI, DOI 10.24432/C5QC87; CC BY 4.0; paper, section 6.3).
//! * **covertype**: Covertype (J. A. Blackard, Colorado State University; UCI, DOI 10.24432/C50K5N; CC BY 4.0).
//!
//! The checksums of MNIST are those of the original idx files, unpacked. That of Covertype was computed from a copy of the
//! published size and agrees with what others use; that of MiniBooNE is second-hand (see the message of a mismatch for what to do).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A data set that can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataSet {
    /// MNIST, 7 against 9.
    Mnist79,
    /// MiniBooNE particle identification.
    Miniboone,
    /// Covertype.
    Covertype,
}

/// One file to be downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the content, unpacked: what checksums are given for.
    pub name: &'static str,
    /// Names under which it is served, packed or not, in order of preference.
    pub served: &'static [&'static str],
    /// sha256 of the content.
    pub sha256: &'static str,
}

const MNIST79: [Source; 4] = [
    Source {
        name: "train-images-idx3-ubyte",
        served: &["train-images-idx3-ubyte.gz", "train-images-idx3-ubyte"],
        sha256: "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    },
    Source {
        name: "train-labels-idx1-ubyte",
        served: &["train-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte"],
        sha256: "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    },
    Source {
        name: "t10k-images-idx3-ubyte",
        served: &["t10k-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte"],
        sha256: "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    },
    Source {
        name: "t10k-labels-idx1-ubyte",
        served: &["t10k-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte"],
        sha256: "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
];

const MINIBOONE: [Source; 1] = [Source {
    name: "MiniBooNE_PID.txt",
    served: &["miniboone+particle+identification.zip", "MiniBooNE_PID.txt"],
    sha256: "577ab8bcb612199a0386cef1725058295df9a18b778a003a6a4349bbd51abd48",
}];

const COVERTYPE: [Source; 1] = [Source {
    name: "covtype.data",
    served: &["covertype.zip", "covtype.data.gz", "covtype.data"],
    sha256: "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
}];

impl DataSet {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mnist79, Self::Miniboone, Self::Covertype];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist79 => "mnist79",
            Self::Miniboone => "miniboone",
            Self::Covertype => "covertype",
        }
    }

    /// What has to be downloaded.
    #[must_use]
    pub fn sources(self) -> &'static [Source] {
        match self {
            Self::Mnist79 => &MNIST79,
            Self::Miniboone => &MINIBOONE,
            Self::Covertype => &COVERTYPE,
        }
    }

    /// Where the sources are served, in the order in which they are asked.
    #[must_use]
    pub fn homes(self) -> &'static [&'static str] {
        match self {
            Self::Mnist79 => &[
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
                "https://storage.googleapis.com/cvdf-datasets/mnist/",
            ],
            Self::Miniboone => &["https://archive.ics.uci.edu/static/public/199/"],
            Self::Covertype => &["https://archive.ics.uci.edu/static/public/31/"],
        }
    }

    /// The files that are made.
    #[must_use]
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::Mnist79 => &[
                "mnist79_train.parquet",
                "mnist79_test.parquet",
                "mnist79_pca50_train.parquet",
                "mnist79_pca50_test.parquet",
                "mnist79_pca50_components.parquet",
            ],
            Self::Miniboone => &["miniboone.parquet"],
            Self::Covertype => &["covtype.parquet"],
        }
    }
}

impl fmt::Display for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DataSet {
    type Err = crate::fetch::Error;

    fn from_str(text: &str) -> crate::fetch::Result<Self> {
        Self::ALL.into_iter().find(|set| set.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|set| set.name()).collect();
            crate::fetch::Error::Setting(format!("`{text}` is no data set; there are {}", names.join(", ")))
        })
    }
}
