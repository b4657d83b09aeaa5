"""Reads a trace of Perfetto by the wire format alone: nothing of Halcyon, and no schema."""
import struct
import zlib
from dataclasses import dataclass, field

# Numbers of fields, by message: protos/perfetto/trace/ of Perfetto's sources.
PACKET = 1
TIMESTAMP, TRACK_EVENT, INTERNED_DATA, COMPRESSED_PACKETS, DEFAULTS, TRACK_DESCRIPTOR = 8, 11, 12, 50, 59, 60
BEGIN, END, INSTANT = 1, 2, 3


@dataclass
class Track:
    name: str
    process: str


@dataclass
class Slice:
    track: Track
    name: str
    category: str
    begin: int  # ns
    end: int = -1
    arguments: dict = field(default_factory=dict)


def number_at(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields_of(message):
    """Pairs of a field's number and its value: an int, a float or bytes."""
    at = 0
    while at < len(message):
        tag, at = number_at(message, at)
        if tag & 7 == 0:
            value, at = number_at(message, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", message, at)[0], at + 8
        elif tag & 7 == 2:
            size, at = number_at(message, at)
            value, at = message[at:at + size], at + size
        else:
            raise ValueError(f"wire type {tag & 7}")
        yield tag >> 3, value


def packets_of(trace):
    for number, packet in fields_of(trace):
        if number != PACKET:
            raise ValueError(f"field {number} of a trace")
        for inner, value in fields_of(packet):
            if inner == COMPRESSED_PACKETS:
                yield from packets_of(zlib.decompress(value))
                break
        else:
            yield packet


def slices_of(trace):
    """All slices and instants, as they begin. Every slice must have ended, and those of a track must be nested."""
    names = {1: {}, 2: {}, 3: {}, 29: {}}  # interned: categories, events, names and texts of annotations
    tracks, usual_track, open_slices, slices, now = {}, None, {}, [], 0
    for packet in packets_of(trace):
        content = dict(fields_of(packet))
        for kind, entry in fields_of(content.get(INTERNED_DATA, b"")):
            one = dict(fields_of(entry))
            names[kind][one[1]] = one[2].decode()
        if DEFAULTS in content:
            usual_track = dict(fields_of(dict(fields_of(content[DEFAULTS]))[11]))[11]
        if TRACK_DESCRIPTOR in content:
            one = dict(fields_of(content[TRACK_DESCRIPTOR]))
            process = dict(fields_of(one[3]))[6].decode() if 3 in one else tracks[one[5]].process
            tracks[one[1]] = Track(one.get(2, b"").decode(), process)
        now += content.get(TIMESTAMP, 0)
        if TRACK_EVENT not in content:
            continue
        event = dict(fields_of(content[TRACK_EVENT]))
        uuid = event.get(11, usual_track)
        if event[9] == END:
            open_slices[uuid].pop().end = now
            continue
        assert event[9] in (BEGIN, INSTANT)
        one = Slice(tracks[uuid], event[23].decode() if 23 in event else names[2][event[10]],
                    event[22].decode() if 22 in event else names[1][event[3]], now)
        for number, value in fields_of(content[TRACK_EVENT]):
            if number != 4:
                continue
            note = dict(fields_of(value))
            name = note[10].decode() if 10 in note else names[3][note[1]]
            text = note[6].decode() if 6 in note else names[29][note[17]] if 17 in note else None
            one.arguments[name] = text if text is not None else note[5] if 5 in note else note[3]
        slices.append(one)
        if event[9] == INSTANT:
            one.end = now
        else:
            open_slices.setdefault(uuid, []).append(one)
    assert not any(open_slices.values()), "slices that never end"
    return slices
