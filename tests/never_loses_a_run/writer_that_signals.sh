#!/bin/sh
# Stands in for halcyon-write: has the real writer, beside it, write the profile, and then sends SIGTERM to the process
# that waits for the answer.
answer=$("${0%/*}/real-writer" "$@")
kill -s TERM "$DIES_PROCESS"
echo "$answer"
