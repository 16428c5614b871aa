#!/usr/bin/env bash
# Fetches a server from Debian's archive into FOLDER/root, with no root and nothing of the machine's own touched: through a private
# apt, so that its lists, cache and packages stay as they are. `jobctl demo --install-server` carries this script inside.
#
#   fetch.sh FOLDER SUITE PACKAGE...
#
# FOLDER/root/complete says that all is there; then nothing is done.
set -euo pipefail

folder=$1 suite=$2
packages=("${@:3}")
root=$folder/root apt=$folder/apt

say() { echo "${folder##*/}: $*" >&2; }
die() { echo "error: ${folder##*/}: $1" >&2; [[ -z ${2:-} ]] || echo "hint: $2" >&2; exit 1; }

# Every configured site that may be the Debian main archive, likeliest first. Others (security, a vendor's repository with
# `debian` in its path) drop out or are tried last: they have no such suite, or no signature of Debian's.
archives() {
  local format='$(REPO_URI) $(RELEASE)'
  {
    apt-get indextargets --format "$format" 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 'Component: main'
    # A fresh image has no lists yet, thus no origin to ask for.
    apt-get indextargets --no-release-info --format "$format" 'Created-By: Packages' 'Component: main'
  } 2>/dev/null | awk '$1 !~ /security/ && $2 !~ /-(security|updates|backports)/ && !seen[$1]++ { print $1 }'
}

# Prepares the private apt of folder $1 for suite $3 of archive $2.
write_apt() {
  local apt=$1 arch key
  arch=$(dpkg --print-architecture)
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,keys}
  : >"$apt/status"
  # Keys are found in either place, by release and image; apt insists on `.gpg` or `.asc`.
  for key in /etc/apt/trusted.gpg.d/debian-archive-* /usr/share/keyrings/debian-archive-keyring.*; do
    [[ -e $key ]] && cp -L "$key" "$apt/keys/$(basename "${key/%.pgp/.gpg}")"
  done
  echo "deb [target=Packages arch=$arch] $2 $3 main" >"$apt/sources.list"
  # Read after the machine's settings: its proxy is kept, its hooks (they clean the machine's cache) and pins are not.
  cat >"$apt/conf" <<-CONF
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	#clear APT::Default-Release;
	#clear APT::Architectures;
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Sandbox::User "";
	Acquire::Languages "none";
	Acquire::Retries "3";
	Dir::State "$apt";
	Dir::State::status "$apt/status";
	Dir::State::lists "$apt/lists";
	Dir::Cache "$apt/cache";
	Dir::Cache::archives "$apt/cache/archives";
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::Etc::trusted "/dev/null";
	Dir::Etc::trustedparts "$apt/keys";
	CONF
}

download() {
  local uri try
  command -v apt-get dpkg-deb >/dev/null || die "fetching a server needs apt, and this machine has none"
  for try in 1 2 3; do
    while read -r uri; do
      rm -rf "$apt"
      write_apt "$apt" "$uri" "$suite"
      if { apt-get -c="$apt/conf" --error-on=any update &&
        apt-get -c="$apt/conf" install --yes --download-only --no-install-recommends "${packages[@]}"; } \
        >"$apt.log" 2>&1 </dev/null; then
        return
      fi
    done < <(archives)
    sleep "$try"
  done
  [[ -e $apt.log ]] || die "apt has no Debian archive among its sources"
  grep -E '^(E|W|Err)' "$apt.log" | sed "s/^/${folder##*/}: /" >&2 || true
  die "${packages[*]} could not be fetched from suite $suite" "is there a network, and a current debian-archive-keyring?"
}

unpack() {
  local deb
  rm -rf "$root"
  for deb in "$apt"/cache/archives/*.deb; do
    case $deb in */*perl*) continue ;; esac # only helper scripts want Perl
    dpkg-deb -x "$deb" "$root"
  done
}

# Two who want the same server at once: the second finds it there.
mkdir -p "$folder"
exec 8>"$folder/fetch.lock"
flock 8
if [[ ! -e $root/complete ]]; then
  say "downloading"
  download
  say "unpacking"
  unpack
  rm -rf "$apt" "$apt.log"
  touch "$root/complete"
fi
