package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.config.edge.EsiConfig;

/**
 * The limits of one page, which its documents and fragments of all levels share.
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
}
