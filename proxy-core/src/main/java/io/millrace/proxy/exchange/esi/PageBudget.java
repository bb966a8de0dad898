package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.config.edge.EsiConfig;

/**
 * The limits of one page that is assembled from ESI documents. All documents and fragments of the page, on all nesting
 * levels, share these limits.
 *
 * <p>Confined to one event loop.
 */
final class PageBudget {
    private final EsiConfig config;
    private int includes;
    private long bytes;

    PageBudget(EsiConfig config) {
        this.config = config;
    }

    /** The settings of the rule of the page. */
    EsiConfig config() {
        return config;
    }

    /** Counts a fragment. Returns false if there are too many. */
    boolean takeInclude() {
        includes++;
        return includes <= config.includesMax();
    }

    /** Counts bytes of a document or fragment. Returns false if there are too many. */
    boolean takeBytes(long count) {
        bytes += count;
        return bytes <= config.pageBytesMax();
    }

    /** Returns the reason of a failed fragment, with the limit that was reached and its setting, if any. */
    String text(String reason, HeldMemory memory) {
        return switch (reason) {
            case PageFailure.DEPTH ->
                reason + ": a fragment on level " + (config.depthMax() + 1) + ", at most " + config.depthMax()
                        + " levels are permitted (esi.max_depth)";
            case PageFailure.INCLUDES ->
                reason + ": fragment " + includes + " of the page, at most " + config.includesMax()
                        + " are permitted (esi.max_includes)";
            case PageFailure.PAGE_SIZE -> reason + ": " + pageSizeText();
            case PageFailure.FRAGMENT_TIMEOUT ->
                reason + ": not complete after " + config.includeTimeoutMillis() + " ms (esi.include_timeout)";
            case PageFailure.MEMORY -> reason + ": " + memory.text();
            default -> reason;
        };
    }

    /** Returns a text with the bytes of the page and their limit, for error messages. */
    String pageSizeText() {
        return "the page has " + bytes + " or more bytes; at most " + config.pageBytesMax()
                + " are permitted (esi.max_page_size)";
    }
}
