/**
 * What runs on a server to keep work apart from the connection. POSIX sh, util-linux or busybox, Linux's /proc; no word of
 * anybody's is part of a script, words arrive as arguments.
 *
 * A folder for each piece of work, mode 0700, below /var/tmp/slipway-UID: `keeper` and `leader` (number, start time and boot
 * of the process that keeps the work and of the work's first one: a number given to another process since is never taken for
 * it), `stdout`, `stderr`, `asked` (when somebody last asked, by the machine's uptime), `reason` (why it was ended), `exit`.
 * A file appears whole, by renaming, or not at all. `exit` is the last one: once it is there, nothing of the work runs.
 *
 * Files that only the work may see lie in a folder of their own, in memory where root has such a place; a user's would be cleared away
 * there when he leaves. They are gone when nothing of the work runs.
 */
const COMMON = `
umask 077
id=$1
uid=$(id -u)
base=/var/tmp/slipway-$uid
dir=$base/$id
vault=$base/files
if [ "$uid" = 0 ]; then
  for place in /run /dev/shm; do
    [ -d "$place" ] && [ -w "$place" ] && vault=$place/slipway-files && break
  done
fi
files=$vault/$id
say() { echo "$2" >"$dir/$1.new.$$" && mv "$dir/$1.new.$$" "$dir/$1"; }
clock() { read -r clock rest </proc/uptime; clock=\${clock%%.*}; }
identify() {
  number=$1
  stat=$(cat "/proc/$number/stat" 2>/dev/null) || return 1
  set -- \${stat##*) }
  [ "$1" != Z ] || return 1
  read -r boot </proc/sys/kernel/random/boot_id
  identity="$number \${20} $boot"
}
lives() {
  read -r noted 2>/dev/null <"$dir/$1" && identify "\${noted%% *}" && [ "$identity" = "$noted" ]
}
`;

/**
 * All that belongs to the work: its session, while the first process or the keeper shows that the number is still its own, and
 * whatever carries its mark. First they are asked to end, after five seconds they are ended.
 */
const ENDING = `
members() {
  if lives leader || [ -n "$isKeeper" ]; then
    read -r leader rest <"$dir/leader"
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\\([0-9]*\\) (.*) [^ZX] [0-9]* [0-9]* $leader .*/\\1/p;s/^\\($leader\\) (.*) [^ZX] .*/\\1/p"
  fi
  grep -ls "SLIPWAY_WORK=$id" /proc/[0-9]*/environ | sed 's|/proc/\\([0-9]*\\)/.*|\\1|'
}
clear_all() {
  tries=0
  while found=$(members); [ -n "$found" ]; do
    tries=$((tries + 1))
    [ "$tries" -le 100 ] || return 1
    if [ "$tries" -eq 1 ]; then kill -s TERM $found; elif [ "$tries" -gt 25 ]; then kill -s KILL $found; fi 2>/dev/null
    sleep 0.2
  done
  rm -rf "$files"
}
end() {
  [ -e "$dir/reason" ] || say reason "$1"
  clear_all
}
`;

/**
 * Stays with the work: starts it in a session of its own, waits for its exit code, and beside it watches time, lease and output.
 * The watch is a process of its own, and ends the work if the keeper itself is killed.
 */
export const KEEPER = `${COMMON}${ENDING}
isKeeper=yes limit=$2 lease=$3 bytes=$4 form=$5
shift 5
trap '' HUP
exec 3<"$dir/input"
rm "$dir/input"
clock
began=$clock
say asked "$clock"
if [ "$form" = merged ]
then SLIPWAY_WORK=$id SLIPWAY_FILES=$files setsid "$@" <&3 3<&- >>"$dir/stdout" 2>&1 &
else SLIPWAY_WORK=$id SLIPWAY_FILES=$files setsid "$@" <&3 3<&- >>"$dir/stdout" 2>>"$dir/stderr" &
fi
work=$!
exec 3<&-
identify "$work" || identity="$work - -"
say leader "$identity"
identify $$
say keeper "$identity"
echo started
exec >/dev/null 2>&1
watch() {
  while sleep 1; do
    [ -e "/proc/$$" ] || { end VANISHED; exit; }
    clock
    read -r asked <"$dir/asked"
    if [ $((clock - began)) -ge "$limit" ]; then end TIMEOUT
    elif [ "$lease" -gt 0 ] && [ $((clock - asked)) -ge "$lease" ]; then end ABANDONED
    elif [ -n "$(find "$dir/stdout" "$dir/stderr" -size "+\${bytes}c")" ]; then end TOO_MUCH_OUTPUT
    fi
  done
}
watch &
watch=$!
wait "$work"
code=$?
clear_all
kill "$watch"
say exit "$code"
`;

/**
 * Its input arrives before its folder is made, so that nothing between the folder and the start waits for the network. In front of it
 * come its files, a line for each, and an empty line: `read` takes no byte more than its line.
 */
export const START = `${COMMON}
keeper=$2 size=$3 private=$4
shift 4
unset SLIPWAY_CALL
ours() {
  [ -d "$1" ] || mkdir -m 700 "$1" 2>/dev/null
  [ -O "$1" ] && [ ! -L "$1" ] || { echo "$1 belongs to somebody else" >&2; exit 73; }
}
ours "$base"
known() {
  tries=0
  while [ ! -e "$dir/keeper" ] && [ ! -e "$dir/exit" ] && [ "$tries" -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
  echo known
  exit 0
}
[ ! -d "$dir" ] || known
input=$base/$id.input.$$
unpacked=$vault/$id.$$
forget() { rm -rf "$input" "$unpacked"; }
trap 'forget; exit 65' TERM HUP INT
if [ "$private" = private ]; then
  ours "$vault"
  mkdir "$unpacked" || exit 70
  while IFS=' ' read -r name packed && [ -n "$name" ]; do
    printf %s "$packed" | base64 -d >"$unpacked/$name" || { forget; exit 65; }
  done
fi
cat >"$input"
[ "$(stat -c %s "$input")" = "$size" ] || { forget; echo 'the input did not arrive whole' >&2; exit 65; }
mkdir "$dir" 2>/dev/null || { forget; known; }
[ "$private" != private ] || { rm -rf "$files"; mv "$unpacked" "$files"; }
mv "$input" "$dir/input" && : >"$dir/stdout" && : >"$dir/stderr"
answer=$(setsid sh -c "$keeper" slipway-work "$id" "$@" </dev/null 2>"$dir/complaint" &)
[ "$answer" = started ] || { cat "$dir/complaint" >&2; rm -rf "$dir" "$files"; exit 70; }
rm -f "$dir/complaint"
echo started
`;

/** Looks for the end before it looks for output: what was said before the end is then never left out. */
export const FOLLOW = `${COMMON}
out=$2 err=$3 seconds=$4 nap=0.1
[ -d "$dir" ] || exit 66
clock
until=$((clock + seconds))
while :; do
  ended=
  if [ -e "$dir/exit" ] || ! lives keeper; then ended=yes; fi
  set -- $(stat -c %s "$dir/stdout" "$dir/stderr")
  if [ "$1" -gt "$out" ]; then
    tail -c "+$((out + 1))" "$dir/stdout" 2>/dev/null | head -c "$(($1 - out))" || exit 1
    out=$1 nap=0.05
  fi
  if [ "$2" -gt "$err" ]; then
    tail -c "+$((err + 1))" "$dir/stderr" 2>/dev/null | head -c "$(($2 - err))" >&2 || exit 1
    err=$2 nap=0.05
  fi
  [ -z "$ended" ] || exit 0
  clock
  [ "$clock" -lt "$until" ] || exit 75
  sleep "$nap"
  case $nap in 0.05) nap=0.1 ;; 0.1) nap=0.2 ;; 0.2) nap=0.5 ;; *) nap=1 ;; esac
done
`;

export const STATUS = `${COMMON}
[ -d "$dir" ] || exit 66
if [ ! -e "$dir/exit" ] && lives keeper; then echo RUNNING; exit 0; fi
read -r reason 2>/dev/null <"$dir/reason" || reason=EXIT
if read -r code 2>/dev/null <"$dir/exit"; then echo "ENDED $code $reason"; else echo VANISHED; fi
`;

export const RENEW = `${COMMON}
[ -d "$dir" ] || exit 66
clock
say asked "$clock"
`;

/** A folder made here is the end of work that has not been started: a start that is still under way finds it and goes home. */
export const CANCEL = `${COMMON}${ENDING}
isKeeper=
[ -d "$base" ] || mkdir -m 700 "$base" 2>/dev/null
if mkdir "$dir" 2>/dev/null; then
  : >"$dir/stdout"; : >"$dir/stderr"
  say reason CANCELLED
  say exit 143
  exit 0
fi
tries=0
while [ ! -e "$dir/keeper" ] && [ ! -e "$dir/exit" ] && [ "$tries" -lt 50 ]; do tries=$((tries + 1)); sleep 0.1; done
[ ! -e "$dir/exit" ] || exit 0
end CANCELLED || exit 1
tries=0
while [ ! -e "$dir/exit" ] && lives keeper; do
  tries=$((tries + 1))
  [ "$tries" -le 100 ] || exit 1
  sleep 0.1
done
`;

export const REMOVE = `${COMMON}
[ -d "$dir" ] || exit 0
[ -e "$dir/exit" ] || ! lives keeper || exit 69
rm -rf "$files" "$dir"
`;

export const SWEEP = `${COMMON}
minutes=$2 swept=0
for dir in $(find "$base" -mindepth 1 -maxdepth 1 ! -path "$vault" -mmin "+$minutes" 2>/dev/null); do
  [ -e "$dir/exit" ] || ! lives keeper || continue
  rm -rf "$vault/\${dir##*/}" "$dir"
  swept=$((swept + 1))
done
# Left by a start that was cut off, or by one whose folder is gone.
for files in $(find "$vault" -mindepth 1 -maxdepth 1 -mmin "+$minutes" 2>/dev/null); do
  [ -d "$base/\${files##*/}" ] || rm -rf "$files"
done
echo "$swept"
`;
