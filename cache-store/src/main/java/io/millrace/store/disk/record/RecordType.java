package io.millrace.store.disk.record;

import org.jspecify.annotations.Nullable;

/** The type of a record. Its code is part of the disk format and never changes. */
public enum RecordType {
    /** A whole object: key, head and body in one record. */
    COMPLETE(1),
    /** One block of an object's body, found by object id and block number. */
    BLOCK(2),
    /** Key and head of an object whose body is in blocks, or in an older record. */
    HEAD(3),
    /** A tombstone: the key was removed, so its older records are invalid. */
    TOMBSTONE(4);

    private static final RecordType[] BY_CODE = {null, COMPLETE, BLOCK, HEAD, TOMBSTONE};

    private final byte code;

    RecordType(int code) {
        this.code = (byte) code;
    }

    /** Returns the code on disk. */
    public byte code() {
        return code;
    }

    /** Returns the type with this code on disk, null if there is none. */
    public static @Nullable RecordType of(byte code) {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
