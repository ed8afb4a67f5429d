# Completion of "openstack lease" for bash: names of leases, resources, types and properties, as
# the service has them. Load it after the completion of "openstack" itself:
#
#     source <(openstack complete)
#     source <(openstack lease completion)
#
# What the service answers is kept for a minute, and what changes rarely for ten minutes, in files
# that only you can read. CLIMATE_COMPLETION_SECONDS=0 keeps nothing.

# The commands whose words are names of types, of resources and of leases.
_OPENSTACK_LEASE_TYPES='^(lease availability show|reservable resource type (show|set|delete)) '
_OPENSTACK_LEASE_RESOURCES='^(reservable resource (delete|refresh|set|show)|maintenance create|'
_OPENSTACK_LEASE_RESOURCES+='lease reallocate [^ ]+) '
_OPENSTACK_LEASE_LEASES='^lease (delete|end|extend|history|reallocate|set|shorten|show|wait|watch) '

# Prints the lines of a command of openstack, from the cache if they are new enough.
# Arguments: seconds, global options as one word each, "--", the command.
_openstack_lease_ask() {
    local seconds=$1 folder key file new now changed
    shift
    local -a globals=()
    while [[ $1 != -- ]]; do
        globals+=("$1")
        shift
    done
    shift
    seconds=${CLIMATE_COMPLETION_SECONDS:-$seconds}
    if [[ $seconds == 0 ]]; then
        command openstack "${globals[@]}" "$@" -f value </dev/null 2>/dev/null
        return
    fi
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/openstack-lease
    key=$(printf '%s\n' "${OS_CLOUD-}" "${OS_AUTH_URL-}" "${OS_ENDPOINT-}" "${OS_USERNAME-}" \
        "${OS_USER_ID-}" "${OS_PROJECT_NAME-}" "${OS_PROJECT_ID-}" "${OS_REGION_NAME-}" \
        "${OS_APPLICATION_CREDENTIAL_ID-}" "${globals[@]}" -- "$@" | cksum)
    file=$folder/${key// /-}
    new=$file.$BASHPID
    now=$(date +%s)
    changed=$(date -r "$file" +%s 2>/dev/null || echo 0)
    if ((now - changed >= seconds)); then
        (
            umask 077
            mkdir -p "$folder" && find "$folder" -type f -mmin +60 -delete
            # A service that does not answer is not asked again at once.
            command openstack "${globals[@]}" "$@" -f value </dev/null >"$new" 2>/dev/null
            mv "$new" "$file"
        ) 2>/dev/null
    fi
    cat "$file" 2>/dev/null
}

# Prints a name as it is written on the command line. Others choose the names: none of them may
# end the quotes in which it is, or begin an expansion.
_openstack_lease_quoted() {
    local name=$1 sign apart
    case $_openstack_lease_quote in
        "'")
            apart="'\\''"
            name=${name//"'"/"$apart"}
            ;;
        '"')
            for sign in \\ \" \$ \`; do
                name=${name//"$sign"/"\\$sign"}
            done
            apart="\"'!'\""
            name=${name//!/"$apart"}
            ;;
        *)
            printf -v name '%q' "$name"
            ;;
    esac
    printf '%s' "$name"
}

# Completes the current word with the lines of standard input, after the text $1. A name that
# looks like an option would be one.
_openstack_lease_offer() {
    local before=$1 beginning=$2 line
    while IFS= read -r line; do
        [[ -n $line && $line != -* && $line == "$beginning"* ]] || continue
        COMPREPLY+=("$before$(_openstack_lease_quoted "$line")")
    done
}

# Prints the resource type that words are about.
_openstack_lease_type() {
    local found=physical:host
    while (($#)); do
        case $1 in
            --storage) found=physical:storage ;;
            --custom) found=${2%%=*} ;;
            --type) found=$2 ;;
        esac
        shift
    done
    if [[ $found != *:* ]]; then
        found=custom:$found
    fi
    printf '%s\n' "$found"
}

_openstack_lease() {
    local _openstack_lease_quote='' at last start=0 before='' current previous command
    local -a globals=() words=()
    # Bash splits words at colons, which names of types have.
    for ((at = 0; at <= COMP_CWORD; at++)); do
        if ((at)) && [[ ${COMP_WORDS[at]} == : || ${COMP_WORDS[at - 1]} == *: ]]; then
            words[-1]+=${COMP_WORDS[at]}
        else
            words+=("${COMP_WORDS[at]}")
        fi
    done
    last=$((${#words[@]} - 1))
    current=${words[last]}
    previous=${words[last - 1]}
    for ((at = 1; at < last; at++)); do
        case ${words[at]} in
            lease | reservable | maintenance)
                start=$at
                break
                ;;
        esac
        globals+=("${words[at]}")
    done
    COMPREPLY=()
    if ((start)); then
        command="${words[*]:start:last-start} "
        if [[ $current == [\'\"]* ]]; then
            _openstack_lease_quote=${current:0:1}
            current=${current:1}
        fi
        case $previous in
            --where)
                before=${current%"${current##*[ (]}"}
                _openstack_lease_offer "$before" "${current#"$before"}" < <(
                    _openstack_lease_ask 600 "${globals[@]}" -- reservable resource property list \
                        --type "$(_openstack_lease_type "${words[@]:start:last-start}")" -c Property
                )
                return
                ;;
            --group-by | --same)
                _openstack_lease_offer '' "$current" < <(
                    _openstack_lease_ask 600 "${globals[@]}" -- reservable resource property list \
                        --type "$(_openstack_lease_type "${words[@]:start:last-start}")" -c Property
                )
                return
                ;;
            --type)
                _openstack_lease_offer '' "$current" < <(
                    _openstack_lease_ask 600 "${globals[@]}" -- reservable resource type list -c Name
                )
                ;;
            --lease)
                command='lease show '
                ;;
            --resource)
                command='reservable resource show '
                ;;
        esac
        if [[ $current != -* ]]; then
            if [[ $command =~ $_OPENSTACK_LEASE_TYPES ]]; then
                _openstack_lease_offer '' "$current" < <(
                    _openstack_lease_ask 600 "${globals[@]}" -- reservable resource type list -c Name
                )
            elif [[ $command =~ $_OPENSTACK_LEASE_RESOURCES ]]; then
                _openstack_lease_offer '' "$current" < <(
                    _openstack_lease_ask 600 "${globals[@]}" -- reservable resource list -c Name
                )
            elif [[ $command =~ $_OPENSTACK_LEASE_LEASES ]]; then
                _openstack_lease_offer '' "$current" < <(
                    _openstack_lease_ask 60 "${globals[@]}" -- lease list --ended -c Name
                )
            fi
        fi
    fi
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* && ! $_openstack_lease_quote ]]; then
        before=${current%"${current##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
    # Commands and options are those of the completion of openstack itself.
    if ((${#COMPREPLY[@]} == 0)) && declare -F _openstack >/dev/null; then
        if declare -F _get_comp_words_by_ref >/dev/null; then
            _openstack "$@"
            return
        fi
        # What it needs of the package bash-completion, which is not installed.
        _get_comp_words_by_ref() {
            cur=${COMP_WORDS[COMP_CWORD]}
            prev=${COMP_WORDS[COMP_CWORD - 1]}
            words=("${COMP_WORDS[@]}")
        }
        _openstack "$@"
        unset -f _get_comp_words_by_ref
    fi
}

complete -o default -F _openstack_lease openstack
