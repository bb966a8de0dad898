package io.millrace.wasm;

/** The results of host functions, as the Proxy-Wasm ABI numbers them. */
final class Status {
    static final int OK = 0;
    static final int NOT_FOUND = 1;
    static final int BAD_ARGUMENT = 2;
    static final int PARSE_FAILURE = 4;
    static final int INVALID_MEMORY_ACCESS = 6;
    static final int EMPTY = 7;
    static final int CAS_MISMATCH = 8;
    static final int INTERNAL_FAILURE = 10;
    static final int UNIMPLEMENTED = 12;

    private Status() {}
}
