package io.millrace.proxy.observe.log.block;

import org.jspecify.annotations.Nullable;

/** The types of columns in a binary log. */
public enum ColumnType {
    /** Epoch milliseconds, stored as the difference to the row before. */
    TIME(1),
    /** A number from 0 to 2^63-1. */
    NUMBER(2),
    /** Bytes of a text, one byte for each character. */
    TEXT(3),
    /** The 4 or 16 bytes of an IP address in network order. */
    ADDRESS(4);

    private static final ColumnType[] VALUES = values();

    private final int code;

    ColumnType(int code) {
        this.code = code;
    }

    /** The number of this type in files. */
    int code() {
        return code;
    }

    /** Returns true if values are bytes with a length. */
    public boolean isBytes() {
        return this == TEXT || this == ADDRESS;
    }

    static @Nullable ColumnType ofCode(int code) {
        for (ColumnType type : VALUES) {
            if (type.code == code) {
                return type;
            }
        }
        return null;
    }
}
