//! Killed at random instants, on any system: the work tree is as before or as after, at the latest after the next command.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::check;
use super::dice::Dice;
use super::photo::Photo;
use super::scene::Scene;

fn rounds() -> usize {
    let asked = std::env::var("GO_TEAM_ROUNDS").ok();
    asked.map_or(6, |text| text.parse().expect("a number of rounds"))
}

#[test]
fn killed_at_random_instants() {
    let mut dice = Dice::new();
    let scene = Scene::lived_in();
    let before = scene.now();
    let golden = scene.repo.copy();
    let started = Instant::now();
    golden.ok(&["rollback", "1", "--yes"]);
    let usual = started.elapsed();
    let after = Photo::of(&golden);
    let mut killed = 0;
    for round in 0..rounds() {
        let repo = scene.repo.copy();
        let mut command = repo.go_team();
        command.args(["rollback", "1", "--yes"]);
        let limit = usize::try_from(usual.as_micros()).unwrap() * 5 / 4;
        let delay = Duration::from_micros(dice.roll(limit) as u64);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(delay);
        child.kill().unwrap();
        let is_done = child.wait().unwrap().success();
        killed += usize::from(!is_done);
        if is_done {
            after.assert_same(&Photo::of(&repo), "a false success");
        }
        let (remedy, expected): (&[&str], _) = match round % 3 {
            0 => (&["rollback", "--continue"], Some(&after)),
            1 => (&["rollback", "--abort"], Some(&before)),
            _ => (&["cp-create", "next"], None),
        };
        let output = repo.run(remedy);
        let now = Photo::of(&repo);
        let is_at = |photo: &Photo| photo.differences(&now).is_empty();
        match expected {
            Some(expected) if output.code == Some(0) => expected.assert_same(&now, &output),
            _ => assert!(
                is_at(&before) || is_at(&after),
                "neither here nor there: {output}"
            ),
        }
        repo.ok(&["cp-create", "on it goes"]);
        check::no_residue(&repo.path(".git"));
        check::complete_one(&repo, &repo.root());
    }
    assert!(killed > 0, "the delays are too long to kill anything");
}
