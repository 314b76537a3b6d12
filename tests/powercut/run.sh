#!/usr/bin/env bash
# Cuts the power under a checkpoint and under a rollback, again and again, and looks what the disk holds.
#
#   tests/powercut/run.sh [-f ext4|xfs] [-n ROUNDS] [-b GO_TEAM] [-l]
#
#   -f  the file system (ext4)          -n  how many cuts under each command (50)
#   -b  the program (target/release/go-team)
#   -l  another program syncs a file of its own just before the cut: what was renamed reaches the disk, what was only
#       written does not
#
# It needs root, loop devices, mkfs of that file system, and xfs_io (of xfsprogs; it works on ext4 too).
#
# Each round begins with the same image of a disk. A command runs on it, and at a random instant the file system is shut down
# as a power cut does it: nothing that waits in memory reaches the disk, its journal included. Every third round the command
# may end first, and the cut comes right after its answer. Then the disk is mounted anew, which replays the journal, and:
#
#   - what was acknowledged is there, and `cp-validate --deep` is content;
#   - the next command works and says what it finished or undid, and so does `git commit`; `git fsck` is content;
#   - a checkpoint has touched nothing; after a rollback everything is as before it, or as after it.
set -u
fs=ext4 rounds=50 other=no
program=$(cd "$(dirname "$0")/../.." && pwd)/target/release/go-team
while getopts f:n:b:l option; do
  case $option in
    f) fs=$OPTARG ;; n) rounds=$OPTARG ;; b) program=$(realpath "$OPTARG") ;; l) other=yes ;;
    *) sed -n '2,22p' "$0"; exit 2 ;;
  esac
done
for tool in mount "mkfs.$fs" xfs_io git "$program"; do
  command -v "$tool" >/dev/null || { echo "there is no $tool" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "mounting needs root" >&2; exit 2; }
# Mounts of its own, that nobody else sees, holds, or has to clear away.
[ "${POWERCUT_ALONE:-}" ] || POWERCUT_ALONE=1 exec unshare --mount "$0" -f "$fs" -n "$rounds" -b "$program" $([ "$other" = yes ] && echo -l)
work=$(mktemp -d) disk=$work/disk
mkdir "$disk" "$work/home"
trap 'cd /; mountpoint -q "$disk" && umount "$disk"; rm -rf "$work"' EXIT
export HOME=$work/home GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C
for role in AUTHOR COMMITTER; do export "GIT_${role}_NAME=Somebody" "GIT_${role}_EMAIL=somebody@example.org"; done

attach() { mount -o loop "$1" "$disk" && cd "$disk/repo" 2>/dev/null; }
detach() {
  cd /
  # Threads of a process that just ended may hold the disk for an instant.
  for _ in $(seq 50); do umount "$disk" 2>/dev/null && return; sleep 0.1; done
  umount "$disk" || { echo "the disk cannot be unmounted" >&2; exit 2; }
}

# All that is the user's: files with their modes, links, the index, HEAD and branches.
look() {
  find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort
  find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0r sha256sum
  git ls-files -s; git symbolic-ref HEAD; git for-each-ref refs/heads
}

# The image that every round begins with: two checkpoints that are on the disk, and work that no checkpoint holds.
make_image() {
  truncate -s "$([ "$fs" = xfs ] && echo 320M || echo 64M)" "$work/image"
  "mkfs.$fs" -q "$work/image" >/dev/null || exit 2
  mount -o loop "$work/image" "$disk" || { echo "cannot mount a loop device here" >&2; exit 2; }
  mkdir "$disk/repo"; cd "$disk/repo" || exit 2
  git init -q -b main .
  for n in $(seq 30); do mkdir -p "dir$((n % 5))"; echo "$n one" > "dir$((n % 5))/file$n"; done
  git add .; git commit -q -m one
  "$program" cp-create -q first > "$work/first"
  for n in $(seq 1 2 30); do echo "$n two" > "dir$((n % 5))/file$n"; done
  echo untracked > untracked; git add .; git commit -q -m two; rm dir1/file1
  "$program" cp-create -q second > "$work/second"
  for n in $(seq 2 3 30); do echo "$n three" > "dir$((n % 5))/file$n"; done
  echo staged > staged; git add staged; echo unsaved > unsaved
  look > "$work/before"
  sync -f .; detach
}

cut_power() {
  [ "$other" = yes ] && xfs_io -f -c 'pwrite -q 0 16' -c fsync "$disk/other" >/dev/null 2>&1
  xfs_io -x -c shutdown "$disk" || { echo "$fs cannot be shut down here" >&2; exit 2; }
}

complain() { echo "round $round, $name: $*" >&2; broken=$((broken + 1)); }

# Runs a command, cuts the power, and looks.
strike() {
  cp --sparse=always "$work/image" "$work/copy"
  attach "$work/copy" || exit 2
  : > "$work/said"; code=none
  if [ $((round % 3)) = 0 ]; then
    "$program" "${args[@]}" > "$work/said" 2>"$work/errors"; code=$?
  else
    "$program" "${args[@]}" > "$work/said" 2>"$work/errors" &
    child=$!
    sleep "$(awk -v t="$usual" -v r=$RANDOM 'BEGIN { printf "%.4f", t * 0.9 * r / 32767 }')"
    # One that has ended by now was acknowledged before the cut.
    if ! kill -0 $child 2>/dev/null; then wait $child; code=$?; child=; fi
  fi
  cd /; cut_power
  if [ $code = none ]; then
    # Whatever it answers now, it is held to it.
    wait "$child"; code=$?
  fi
  detach
  [ $code = 0 ] && acknowledged=$((acknowledged + 1))
  attach "$work/copy" || { complain "the disk cannot be mounted"; return; }
  git fsck --strict --no-dangling >"$work/fsck" 2>&1 || complain "fsck: $(head -3 "$work/fsck")"
  "$program" cp-list >/dev/null 2>"$work/errors" || complain "cannot be listed: $(cat "$work/errors")"
  "$program" cp-create -q next >"$work/next" 2>"$work/errors" || complain "blocked: $(cat "$work/errors")"
  look > "$work/now"
  if cmp -s "$work/now" "$work/before"; then
    [ "$name" = rollback ] && [ $code = 0 ] && complain "acknowledged, and not done"
  elif [ "$name" = rollback ] && cmp -s "$work/now" "$work/after"; then :
  else complain "neither before nor after: $(diff "$work/before" "$work/now" | head -5)"; fi
  listed=$("$program" cp-list --json)
  for id in "$(cat "$work/first")" "$(cat "$work/second")" $([ "$name" = cp-create ] && [ $code = 0 ] && cat "$work/said"); do
    case $listed in *"\"$id\""*) ;; *) complain "$id was acknowledged and is gone"; lost=$((lost + 1)) ;; esac
  done
  "$program" cp-validate --deep >"$work/errors" 2>&1 || complain "not valid: $(tail -5 "$work/errors")"
  git commit -q --allow-empty --only -m 'goes on' 2>"$work/errors" || complain "git commit: $(cat "$work/errors")"
  detach
}

make_image
echo "| command | file system | cuts | acknowledged | acknowledged and lost | rounds with a complaint |"
echo "|---|---|---:|---:|---:|---:|"
status=0
for name in cp-create rollback; do
  args=(cp-create -q third); [ $name = rollback ] && args=(rollback 1 --yes)
  # Once to its end, for how long it takes and where it leads.
  cp --sparse=always "$work/image" "$work/copy"; attach "$work/copy" || exit 2
  begun=$(date +%s.%N); "$program" "${args[@]}" >/dev/null || exit 2
  usual=$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')
  look > "$work/after"; detach
  acknowledged=0 lost=0 complained=0
  for round in $(seq "$rounds"); do
    broken=0; strike; [ $broken = 0 ] || complained=$((complained + 1))
  done
  echo "| \`$name\` | $fs | $rounds | $acknowledged | $lost | $complained |"
  [ $complained = 0 ] && [ $lost = 0 ] || status=1
done
exit $status
