use super::picture::distribution;

#[test]
fn a_distribution_rises_by_a_step_at_each_value() {
    let corners = distribution(vec![5, 3, 5, 9]);
    assert_eq!(corners, [(3, 0.0), (3, 0.25), (5, 0.25), (5, 0.75), (9, 0.75), (9, 1.0)]);
    assert!(distribution(Vec::new()).is_empty());
}
