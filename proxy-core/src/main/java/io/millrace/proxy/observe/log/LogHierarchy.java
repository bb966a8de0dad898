package io.millrace.proxy.observe.log;

/** The server from which a response was fetched: the hierarchy code of the {@code squid} format. */
public enum LogHierarchy {
    /** Not fetched: the cache or the proxy itself supplied the response. */
    NONE,
    /** The origin. */
    DIRECT,
    /** A parent cache. */
    DEFAULT_PARENT;

    private static final LogHierarchy[] VALUES = values();

    /** Index in records, which exist only within the process. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    static LogHierarchy ofIndex(int index) {
        return VALUES[index];
    }
}
