//! Limits that are no fault of the disk's: files may not grow, or there can be no more of them.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use super::check;
use super::photo::Photo;
use super::support::TestRepo;

#[test]
fn nasty_08_a_limit_on_the_size_of_files() {
    let repo = TestRepo::with_checkpoints();
    // What does not shrink, and is more than may be written.
    let noise: Vec<u8> = (0..40_000_u32)
        .flat_map(|nth| {
            u64::from(nth)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .to_be_bytes()
        })
        .collect();
    repo.write("large.bin", noise);
    let before = Photo::of(&repo);
    let limit = |command: &mut Command| {
        let mut shell = Command::new("sh");
        // In blocks of 512 bytes. The signal is ignored, so that the call fails.
        shell.args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.current_dir(command.get_current_dir().unwrap());
        shell.env_clear().process_group(0);
        let variables = command.get_envs();
        shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
        *command = shell;
    };
    for args in [&["cp-create", "too large"][..], &["rollback", "1", "--yes"]] {
        let output = repo.run_with(args, limit, "");
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("File too large"), "{output}");
        before.assert_same(&Photo::of(&repo), &output);
        assert_eq!(check::complete_one(&repo, &repo.root()).records.len(), 2);
        check::no_residue(&repo.path(".git"));
    }
    repo.ok(&["cp-create", "it fits now"]);
    let packs = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    let names = packs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| !name.starts_with("pack-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A disk of its own that has few inodes, where the kernel lets somebody mount one.
const FEW_INODES: &str = r#"
set -e
mount -t tmpfs -o size=20m,nr_inodes=400 few "$DISK"
cd "$DISK"
git init -q -b main work; cd work
git config user.name s; git config user.email s@example.org
echo one > file; "$GO_TEAM" cp-create -q
echo two > file; mkdir dir
# Take all that are left.
n=0; while true 2>/dev/null > "../ballast$n"; do n=$((n + 1)); done
list() { find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git ls-files -s; }
list > /dev/shm/go-team-inodes.$$
for command in "cp-create none-left" "rollback 1 --yes"; do
  code=0; "$GO_TEAM" $command > /dev/shm/go-team-said.$$ 2>&1 || code=$?
  echo "code $code"; cat /dev/shm/go-team-said.$$
  list | cmp - /dev/shm/go-team-inodes.$$ && echo unchanged
done
rm -f ../ballast*
"$GO_TEAM" cp-create -q next > /dev/null
"$GO_TEAM" cp-validate --deep > /dev/null && git fsck --strict --no-dangling && echo whole
find .git -name '*.lock' -o -name '*.keep' -o -name '.tmp*' -o -name 'tmp_*' | sed 's/^/left: /'
rm -f /dev/shm/go-team-*.$$
"#;

#[test]
fn nasty_08_no_more_inodes() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]);
    command.args(["sh", "-c", FEW_INODES]).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", dir.path()).env("DISK", &disk);
    command.env("GO_TEAM", env!("CARGO_BIN_EXE_go-team"));
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no unshare here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let refusals = ["unshare failed", "mount:", "Operation not permitted"];
    if refusals.iter().any(|refusal| errors.contains(refusal)) {
        eprintln!("skipped: no disk of its own without privileges here: {errors}");
        return;
    }
    assert!(output.status.success(), "{said}\n{errors}");
    assert_eq!(said.matches("code 1").count(), 2, "{said}\n{errors}");
    assert_eq!(said.matches("unchanged").count(), 2, "{said}\n{errors}");
    assert!(said.ends_with("whole\n"), "{said}\n{errors}");
}
