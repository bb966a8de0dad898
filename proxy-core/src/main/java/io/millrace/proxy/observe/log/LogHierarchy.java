package io.millrace.proxy.observe.log;

/** Where a response was fetched: the hierarchy code of the {@code squid} format. */
public enum LogHierarchy {
    /** Nowhere: the cache or the proxy itself answered. */
    NONE,
    /** At the origin. */
    DIRECT,
    /** At a parent cache. */
    DEFAULT_PARENT;

    private static final LogHierarchy[] VALUES = values();

    /** The place in records, which never leave the process. */
    @SuppressWarnings("EnumOrdinal") // nothing outside the process depends on the order of the constants
    int index() {
        return ordinal();
    }

    static LogHierarchy ofIndex(int index) {
        return VALUES[index];
    }
}
