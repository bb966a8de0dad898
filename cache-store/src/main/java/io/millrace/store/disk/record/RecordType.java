package io.millrace.store.disk.record;

import org.jspecify.annotations.Nullable;

/** What a record says. The code is its place on disk and never changes. */
public enum RecordType {
    /** A whole object: key, head and body in one record. */
    COMPLETE(1),
    /** One block of an object's body, found by object id and block number. */
    BLOCK(2),
    /** Key and head of an object whose body lies in blocks, or in an older record. */
    HEAD(3),
    /** The key holds nothing from here on. */
    TOMBSTONE(4);

    private static final RecordType[] BY_CODE = {null, COMPLETE, BLOCK, HEAD, TOMBSTONE};

    private final byte code;

    RecordType(int code) {
        this.code = (byte) code;
    }

    /** The byte on disk. */
    public byte code() {
        return code;
    }

    /** The type of a byte on disk, null when there is none. */
    public static @Nullable RecordType of(byte code) {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
