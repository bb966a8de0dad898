package io.millrace.proxy.caching;

/**
 * The kind of invalidation that outdated a stored response. The invalidation began after the fetch of the response
 * began. A hard invalidation removes the response. A soft one makes it stale: it must be validated before use.
 */
public enum Outdated {
    /** Everything was invalidated. */
    BY_ALL("all", false),
    /** All responses of the response's host were invalidated. */
    BY_HOST("host", false),
    /** All responses of the response's host with its path prefix were invalidated. */
    BY_PREFIX("prefix", false),
    /** A cache group of the response was invalidated (RFC 9875). */
    BY_GROUP("group", false),
    /** The URL of the response was purged. Used if an extension stores several responses of a URL by separate keys. */
    BY_URL("url", false),
    /** A tag of the response was purged. */
    BY_TAG("tag", false),
    /** The condition of a purge by pattern holds for the response, or may hold while its head is unknown. */
    BY_PATTERN("pattern", false),
    /** The invalidation journal was lost, so the response may be invalidated. */
    BY_LOSS("journal-lost", false),
    /** Everything was made stale. */
    STALE_BY_ALL("all", true),
    /** All responses of the response's host were made stale. */
    STALE_BY_HOST("host", true),
    /** All responses of the response's host with its path prefix were made stale. */
    STALE_BY_PREFIX("prefix", true),
    /** A cache group of the response was made stale. */
    STALE_BY_GROUP("group", true),
    /** A tag of the response was purged softly. */
    STALE_BY_TAG("tag", true),
    /** The condition of a soft purge by pattern holds for the response, or may hold while its head is unknown. */
    STALE_BY_PATTERN("pattern", true),
    /** The URL of the response was purged softly. */
    STALE_BY_URL("url", true);

    private final String text;
    private final String detail;
    private final boolean soft;

    Outdated(String text, boolean soft) {
        this.text = text;
        this.detail = (soft ? "stale-by-" : "invalidated-by-") + text;
        this.soft = soft;
    }

    /** The invalidated scope, in one word. */
    public String text() {
        return text;
    }

    /** Stable name for Cache-Status and messages. */
    public String detail() {
        return detail;
    }

    /** Returns true if the response may be used once the origin has confirmed it. */
    public boolean isSoft() {
        return soft;
    }
}
