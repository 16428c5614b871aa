# Runs a throw-away server for as long as somebody holds the other end of our standard input; then nothing of it is left, however
# that somebody ended. A shell of its own, because a process that was killed cannot tidy up after itself.
#
#   sh -c THIS guard FOLDER INITIALISE SERVER...
#
# FOLDER is removed at the end. A first line tells that initialise.sql and start.sql are in it; then SERVER is run twice: with the
# option INITIALISE, reading initialise.sql, and for good. FOLDER/ended appears when it ends by itself. A second line says goodbye:
# without it, somebody was killed, and the terminal may be as no shell wants it.
folder=$1 initialise=$2
shift 2
# Ctrl-C is for whoever holds us, and the end of our input tells us enough.
trap '' HUP INT TERM TTOU
terminal=$({ stty -g </dev/tty; } 2>/dev/null)
exec 3<&0 </dev/null
read -r _ <&3 || { rm -rf "$folder"; exit; }

# In a session of its own, so that all that it starts can be ended by one kill.
setsid sh -c '
  folder=$1 initialise=$2
  shift 2
  cd "$folder" || exit
  "$@" "$initialise" <initialise.sql >initialise.log 2>&1 && "$@" --init-file="$folder/start.sql" >server.log 2>&1
  echo "$?" >ended
' guard "$folder" "$initialise" "$@" 3<&- &

read -r _ <&3 || killed=yes
# Its session may be only about to begin.
until kill -KILL -"$!" 2>/dev/null || ! kill -0 "$!" 2>/dev/null; do sleep 0.05; done
wait "$!" 2>/dev/null
# The server is a grandchild, for which nobody can wait: look whether a thread of that session is still not dead. One may hold the
# sockets when the first thread, which stands for the process, is dead already.
lives() {
  for stat in /proc/[0-9]*/task/[0-9]*/stat; do
    # number (name) state parent group session ...
    { read -r line <"$stat"; } 2>/dev/null && case ${line##*) } in [!ZX]\ *\ "$!"\ "$!"\ *) return 0 ;; esac
  done
  return 1
}
while lives; do sleep 0.02; done
# Whoever was killed may have been in the middle of making a file.
tries=0
until rm -rf "$folder" 2>/dev/null || [ "$tries" -eq 100 ]; do
  sleep 0.05
  tries=$((tries + 1))
done
if [ -n "${killed-}" ] && [ -n "$terminal" ] && [ "$(stty -g </dev/tty)" != "$terminal" ]; then
  stty "$terminal" </dev/tty
  # The usual screen, and a cursor.
  printf '\033[?2026l\033[?1049l\033[?25h' >/dev/tty
fi
