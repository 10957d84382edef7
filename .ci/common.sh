# What .ci/run and .ci/full share: a copy of the checkout that an ordinary user may use, stages with
# their times, and what the whole has cost. Sourced, with the folder of the checkout as the current one.

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_COMPILE=0  # Python compiles what is imported
export NETCALC_REQUIRE=browser,namespace              # a test of these kinds that is skipped, fails
export LC_ALL=C.UTF-8
here=$PWD
work=$(mktemp -d)
chmod 755 "$work"
copy=$work/netcalc                                    # the checkout, as an ordinary user has it
user_is_other=0                                       # 1: started as root, tests as `nobody` first
beside=                                               # a process group in the background
trap 'if [ -n "$beside" ]; then kill -- "-$beside"; wait "$beside"; fi 2>/dev/null || true
    rm -rf "$work"' EXIT

# Runs a command as an ordinary user, without any right that root has.
as_user() {
    if ((user_is_other)); then
        setpriv --reuid nobody --regid nogroup --clear-groups --bounding-set=-all --inh-caps=-all \
            env HOME="$work/home" TMPDIR="$work/tmp" PATH="$user_path" "$@"
    else
        env "$@"
    fi
}

stages=()
stage() {
    stage_ends
    stage_name=$1 stage_began=$SECONDS
    printf '\n=== %s (%d s so far)\n' "$1" "$SECONDS"
}
stage_name=
stage_ends() {
    [ -z "$stage_name" ] || stages+=("$(printf '%5d s  %s' $((SECONDS - stage_began)) "$stage_name")")
}

# Runs a command in the background, in a process group of its own that is ended with this script;
# `ended` waits for it, shows what it printed, and fails if it did.
behind() {
    set -m
    "$@" >"$work/behind.log" 2>&1 </dev/null &
    beside=$!
    set +m
}
ended() {
    local code=0
    wait "$beside" || code=$?
    beside=
    cat "$work/behind.log"
    return "$code"
}

# Installs what a machine lacks; with the argument `hub` the proxy of JupyterHub, too.
system_packages() {
    stage "system packages"
    local missing=()
    command -v chromium >/dev/null || missing+=(chromium fonts-dejavu-core)
    command -v ip >/dev/null || missing+=(iproute2)
    command -v ping >/dev/null || missing+=(iputils-ping)
    command -v traceroute >/dev/null || missing+=(traceroute)
    command -v mtr >/dev/null || missing+=(mtr-tiny)
    command -v setpriv >/dev/null || missing+=(util-linux)
    command -v git >/dev/null || missing+=(git)
    [ "${1-}" != hub ] || command -v configurable-http-proxy >/dev/null ||
        missing+=(node-configurable-http-proxy)
    local python=python3
    ((EUID)) || python=/usr/bin/python3               # that of the ordinary user whom root tests as
    $python -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    ((${#missing[@]})) || return 0
    if ((EUID)); then
        echo "needed: apt install ${missing[*]}" >&2
        return 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Copies what git knows, and what is new, so that nothing here changes the checkout itself.
copy_checkout() {
    mkdir -p "$copy" "$work/home" "$work/tmp"
    git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard | xargs -0 sh -c \
        'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh |
        tar --null -T - -cf - | tar -xf - -C "$copy"
    if ((EUID == 0)); then
        user_is_other=1 user_path=/usr/local/bin:/usr/bin:/bin
        chown -R nobody:nogroup "$copy" "$work/home" "$work/tmp"
    fi
    cd "$copy"
}

# From here on processor time counts: what comes before installs what a machine lacks.
count_from_here() {
    times >"$work/before"                             # here: a subshell has no times of its own
    measured=("$(yardstick)")
}

# A fixed piece of work, in processor milliseconds: how fast this machine is in this minute.
yardstick() {
    .venv/bin/python -c '
import time
def work():
    began = time.process_time()
    total = 0
    for number in range(4_000_000):
        total += number * number % 7
    return time.process_time() - began
print(round(1000 * sorted(work() for _ in range(3))[1]))'
}

# Prints where the time went, and fails if the whole has become dearer than LIMIT yardsticks.
account() {
    stage_ends
    times >"$work/after"
    printf '\n=== what it took\n'
    printf '%s\n' "${stages[@]}"
    printf '%5d s  in all\n\n' "$SECONDS"
    echo "the ten dearest tests:"
    grep -E '^[0-9.]+s +(setup|call|teardown) ' "$work/tests.log" | sort -rn | head -n 10 || true
    python3 "$here/.ci/size.py" "$here"
    .venv/bin/python - "$work/before" "$work/after" "$@" <<'PYTHON'
import re
import sys

def seconds(file):  # of `times`: the second line is of all children
    texts = re.findall(r"(\d+)m([\d.]+)s", open(file).read().splitlines()[1])
    return sum(60 * float(minutes) + float(rest) for minutes, rest in texts)

before, after, limit, *yardsticks = sys.argv[1:]
spent, limit, yardsticks = seconds(after) - seconds(before), float(limit), [*map(float, yardsticks)]
cost = spent / (sorted(yardsticks)[len(yardsticks) // 2] / 1000)
print(f"{spent:.0f} s of processors, {cost:.0f} yardsticks of {limit:.0f} that are allowed")
sys.exit(cost > limit and "dearer than .ci says: make it cheaper, or raise the limit on purpose")
PYTHON
}
