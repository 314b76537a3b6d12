//! Clocks go wrong; order does not.

use super::check;
use super::support::TestRepo;

#[test]
fn a_clock_set_back_by_twenty_years_changes_no_order() {
    let repo = TestRepo::with_commit();
    let times = [
        "2025-12-28T21:00:00Z",
        "2025-12-28T21:00:00Z",
        "2005-12-28T21:00:00Z",
        "2005-12-28T20:00:00Z",
        "2025-12-28T21:00:00Z",
        "1969-07-20T20:17:40Z",
    ];
    let mut ids = Vec::new();
    for (nth, time) in times.into_iter().enumerate() {
        repo.write("file.txt", format!("{nth}\n"));
        let now = [("GO_TEAM_TEST_NOW", time)];
        let made = repo.run_env(&now, &["cp-create", "--name", "same", "--json"]);
        assert_eq!(made.code, Some(0), "{made}");
        ids.push(made.json()["data"]["id"].as_str().unwrap().to_owned());
        let newest = repo.run_env(&now, &["cp-show", "latest", "--json"]).json();
        assert_eq!(
            newest["data"]["id"].as_str(),
            ids.last().map(String::as_str)
        );
        assert_eq!(newest["data"]["current"], true);
    }
    let session = check::complete_one(&repo, &repo.root());
    let listed: Vec<&str> = session
        .records
        .iter()
        .map(|record| record.id.as_str())
        .collect();
    assert_eq!(listed, ids, "in the order in which they were made");
    for (record, seq) in session.records.iter().zip(1..) {
        assert_eq!(record.seq, seq);
    }
    let before = repo.ok(&["cp-show", "latest~2", "--json"]).json();
    assert_eq!(before["data"]["id"], ids[3]);
    check::shown_as_valid(&repo, &session);
}

#[test]
fn checkpoints_of_one_second_have_names_of_their_own() {
    let repo = TestRepo::with_commit();
    let now = [("GO_TEAM_TEST_NOW", "2025-12-28T21:00:00.900Z")];
    let mut ids = Vec::new();
    for _ in 0..3 {
        let made = repo.run_env(&now, &["cp-create", "--step", "1", "--quiet"]);
        assert_eq!(made.code, Some(0), "{made}");
        ids.push(made.stdout.trim_end().to_owned());
    }
    let first = ids[0].clone();
    assert_eq!(ids[1..], [format!("{first}-2"), format!("{first}-3")]);
    check::complete_one(&repo, &repo.root());
}
