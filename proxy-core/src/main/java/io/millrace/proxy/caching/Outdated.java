package io.millrace.proxy.caching;

/**
 * What made a stored response outdated other than time: an invalidation of more than its own URL that began after the response
 * was asked for. A hard one means that it is gone, a soft one that it is stale from then on and must be validated.
 */
public enum Outdated {
    /** Everything was invalidated. */
    BY_ALL("all", false),
    /** Everything of its host was. */
    BY_HOST("host", false),
    /** Everything of its host whose path begins so was. */
    BY_PREFIX("prefix", false),
    /** A cache group that it belongs to was (RFC 9875). */
    BY_GROUP("group", false),
    /** A tag that it has was purged. */
    BY_TAG("tag", false),
    /** The journal that would tell is lost. */
    BY_LOSS("journal-lost", false),
    /** Everything was made stale. */
    STALE_BY_ALL("all", true),
    /** Everything of its host was made stale. */
    STALE_BY_HOST("host", true),
    /** Everything of its host whose path begins so was made stale. */
    STALE_BY_PREFIX("prefix", true),
    /** A cache group that it belongs to was made stale. */
    STALE_BY_GROUP("group", true),
    /** A tag that it has was purged softly. */
    STALE_BY_TAG("tag", true),
    /** Its URL was purged softly. */
    STALE_BY_URL("url", true);

    private final String text;
    private final String detail;
    private final boolean soft;

    Outdated(String text, boolean soft) {
        this.text = text;
        this.detail = (soft ? "stale-by-" : "invalidated-by-") + text;
        this.soft = soft;
    }

    /** What was invalidated, in a word. */
    public String text() {
        return text;
    }

    /** Stable name for Cache-Status and for people. */
    public String detail() {
        return detail;
    }

    /** Whether it may be used once the origin has confirmed it. */
    public boolean isSoft() {
        return soft;
    }
}
