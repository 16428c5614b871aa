//! The whole distribution of something that was measured many times.

/// Samples in order; none is ever left out.
#[derive(Clone, Debug, Default)]
pub struct Spread(Vec<f64>);

impl Spread {
    /// Puts the samples in order.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut samples: Vec<f64> = samples.into_iter().collect();
        samples.sort_by(f64::total_cmp);
        Self(samples)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The smallest sample that at least `percent` of all do not exceed; with under 100 samples, p99 is the worst.
    pub fn percentile(&self, percent: usize) -> f64 {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    /// The one in the middle.
    pub fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// That which 99 of 100 do not exceed.
    pub fn p99(&self) -> f64 {
        self.percentile(99)
    }

    /// The largest.
    pub fn worst(&self) -> f64 {
        self.percentile(100)
    }
}
