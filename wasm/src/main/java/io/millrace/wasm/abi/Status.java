package io.millrace.wasm.abi;

/** The results of host functions, as the Proxy-Wasm ABI numbers them. */
public final class Status {
    public static final int OK = 0;
    public static final int NOT_FOUND = 1;
    public static final int BAD_ARGUMENT = 2;
    public static final int PARSE_FAILURE = 4;
    public static final int INVALID_MEMORY_ACCESS = 6;
    public static final int EMPTY = 7;
    public static final int CAS_MISMATCH = 8;
    public static final int INTERNAL_FAILURE = 10;
    public static final int UNIMPLEMENTED = 12;

    private Status() {}
}
