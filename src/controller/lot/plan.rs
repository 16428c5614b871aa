//! When sessions are opened for parked jobs, so that each is there in time and none of them in a crowd.

use std::time::Duration;

/// How long before its instant a job gets its session.
pub const LEAD: Duration = Duration::from_secs(2);
/// Between two openings, at the least.
const GAP: Duration = Duration::from_millis(10);

/// For each instant at which a job is due, given as a time from some common beginning, when its session is opened: at least
/// [`LEAD`] before, and, going back from the last one, at least [`GAP`] before the next one. What lies before the beginning
/// is opened at it.
pub fn openings<T>(due: impl IntoIterator<Item = (Duration, T)>) -> Vec<(Duration, T)> {
    let mut due: Vec<_> = due.into_iter().collect();
    due.sort_by_key(|(due, _)| *due);
    let mut next = Duration::MAX;
    for (due, _) in due.iter_mut().rev() {
        next = due.saturating_sub(LEAD).min(next.saturating_sub(GAP));
        *due = next;
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(due: &[u64]) -> Vec<u64> {
        let due = due.iter().map(|due| (Duration::from_millis(*due), ()));
        openings(due).into_iter().map(|(open, ())| open.as_millis().try_into().expect("small")).collect()
    }

    #[test]
    fn a_job_is_opened_before_it_is_due() {
        assert_eq!(plan(&[]), [0; 0]);
        assert_eq!(plan(&[60_000]), [58_000]);
        assert_eq!(plan(&[90_000, 30_000, 60_000]), [28_000, 58_000, 88_000]);
    }

    #[test]
    fn many_of_one_instant_are_opened_one_after_the_other() {
        assert_eq!(plan(&[60_000; 4]), [57_970, 57_980, 57_990, 58_000]);
        let plan = plan(&[3_600_000; 1_000]);
        assert_eq!((plan[0], plan[999]), (3_600_000 - 2_000 - 9_990, 3_598_000));
    }

    #[test]
    fn a_crowd_is_opened_before_the_one_that_is_due_amid_its_openings() {
        // The one that is due 5 ms before the crowd gives way too.
        assert_eq!(plan(&[59_995, 60_000, 60_000]), [57_980, 57_990, 58_000]);
        assert_eq!(plan(&[50_000, 60_000, 60_000]), [48_000, 57_990, 58_000]);
    }

    #[test]
    fn what_should_have_been_opened_is_opened_at_once() {
        assert_eq!(plan(&[0, 500, 1_999, 2_000, 2_005]), [0, 0, 0, 0, 5]);
    }

    #[test]
    fn each_keeps_its_name() {
        let due = [(Duration::from_secs(9), 'b'), (Duration::from_secs(5), 'a')];
        assert_eq!(openings(due).into_iter().map(|(_, name)| name).collect::<String>(), "ab");
    }
}
