package io.millrace.proxy.exchange.esi;

import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.log.LogOutcome;

/**
 * The reason why a page that is assembled from ESI documents cannot be sent. Immutable.
 *
 * @param status status of the response to the client
 * @param detail identifier of the failure in Cache-Status and the access log
 * @param text a sentence for the client: what happened, and the limit with its setting
 * @param counter the counter that is incremented for the page
 * @param outcome the outcome in the access log
 */
public record PageFailure(int status, String detail, String text, Counter counter, LogOutcome outcome) {
    /** Detail of a page whose documents and fragments have too many bytes. */
    static final String PAGE_SIZE = "esi-page-size";

    /** Detail of a page for which there is no memory. */
    static final String MEMORY = "esi-memory";

    /** Detail of a fragment that took too long. */
    static final String FRAGMENT_TIMEOUT = "esi-fragment-timeout";

    static final String DEPTH = "esi-depth";
    static final String INCLUDES = "esi-includes";

    /** Returns the failure of a page whose document cannot be processed. */
    static PageFailure document(String detail, String text) {
        return new PageFailure(502, detail, text, Counter.ESI_PAGES_FAILED_DOCUMENT, LogOutcome.FAILED);
    }

    /** Returns the failure of a page whose document ended before its announced end. */
    static PageFailure incomplete(int received) {
        return new PageFailure(
                502,
                "esi-document-incomplete",
                "the document of the page ended after " + received + " bytes, before its end",
                Counter.ESI_PAGES_FAILED_DOCUMENT,
                LogOutcome.ORIGIN_READ_FAILED);
    }

    /** Returns the failure of a page that reached a limit of its rule. */
    static PageFailure limit(String detail, String text) {
        return new PageFailure(502, detail, text, Counter.ESI_PAGES_FAILED_LIMIT, LogOutcome.FAILED);
    }

    /** Returns the failure of a page whose document is longer than the limit. */
    static PageFailure documentSize(long bytes, boolean isAll, int limit) {
        return limit(
                "esi-document-size",
                "the document of the page has " + bytes + (isAll ? "" : " or more") + " bytes; at most " + limit
                        + " are permitted (esi.max_document_size)");
    }

    /** Returns the failure of a page for which there is no memory. */
    static PageFailure memory(String text) {
        return new PageFailure(
                503,
                MEMORY,
                "there is no memory for the page: " + text,
                Counter.ESI_PAGES_FAILED_MEMORY,
                LogOutcome.FAILED);
    }

    /** Returns the failure of a page that needs a fragment which failed for a reason. */
    static PageFailure fragment(String reason, String text) {
        if (reason.equals(MEMORY)) {
            return memory(text);
        }
        return new PageFailure(
                502,
                reason,
                text,
                Counter.ESI_PAGES_FAILED_FRAGMENT,
                reason.equals(FRAGMENT_TIMEOUT) ? LogOutcome.ORIGIN_TIMEOUT : LogOutcome.FAILED);
    }

    /** Returns the failure of a page whose request took too long. */
    static PageFailure timeout() {
        return new PageFailure(
                502,
                "esi-timeout",
                "timeouts.transaction was reached while fragments of the page were requested",
                Counter.ESI_PAGES_FAILED_FRAGMENT,
                LogOutcome.ORIGIN_TIMEOUT);
    }

    /** Returns the failure of a partly sent page whose client received nothing for the given time. */
    static PageFailure slowClient(int seconds) {
        return new PageFailure(
                502,
                "esi-slow-client",
                "the client took no part of the page for " + seconds + " s",
                Counter.ESI_PAGES_FAILED_LIMIT,
                LogOutcome.CLIENT_ABORTED);
    }

    /** Returns the failure of a page because of an unexpected exception. */
    static PageFailure internal() {
        return new PageFailure(
                502,
                "esi-internal",
                "internal error in this proxy during the assembly of the page",
                Counter.ESI_PAGES_FAILED_INTERNAL,
                LogOutcome.FAILED);
    }

    /** Returns true if there is no memory for the page. */
    boolean isMemory() {
        return counter == Counter.ESI_PAGES_FAILED_MEMORY;
    }
}
