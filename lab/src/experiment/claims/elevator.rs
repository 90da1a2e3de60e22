use results::{Claim, Report};
pub fn all(_: &Report) -> Vec<Claim> {
    Vec::new()
}
