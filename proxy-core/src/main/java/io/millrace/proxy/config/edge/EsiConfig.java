package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigValues;
import org.jspecify.annotations.Nullable;

/**
 * The settings for the assembly of pages (Edge Side Includes, ESI) of one remap rule. A document is a response whose
 * include elements this proxy replaces by fragments. Immutable.
 *
 * @param when which responses are documents
 * @param depthMax limit of the levels of nested fragments
 * @param includesMax limit of the fragments of one page
 * @param documentBytesMax limit of one document
 * @param pageBytesMax limit of all documents and fragments of one page
 * @param includeTimeoutMillis limit of the time until a fragment is complete
 */
public record EsiConfig(
        When when, int depthMax, int includesMax, int documentBytesMax, int pageBytesMax, long includeTimeoutMillis) {
    /** Divisor of the Java heap for the default of {@link EsiKeys#MEMORY}. */
    private static final int HEAP_PER_PAGE_BYTE = 8;

    /** The responses that are documents. */
    public enum When {
        /** Responses that ask for ESI in Surrogate-Control. */
        SURROGATE_CONTROL,
        /** Also all responses of type text/html. */
        ALWAYS
    }

    /**
     * Reads the settings of a remap rule.
     *
     * @param inForce the values of the rule, completed by the general values
     * @return null if no pages are assembled
     */
    public static @Nullable EsiConfig from(ConfigValues inForce) {
        return !inForce.get(EsiKeys.ENABLED)
                ? null
                : new EsiConfig(
                        inForce.get(EsiKeys.WHEN),
                        inForce.get(EsiKeys.MAX_DEPTH),
                        inForce.get(EsiKeys.MAX_INCLUDES),
                        Math.toIntExact(inForce.get(EsiKeys.MAX_DOCUMENT_SIZE)),
                        Math.toIntExact(inForce.get(EsiKeys.MAX_PAGE_SIZE)),
                        inForce.get(EsiKeys.INCLUDE_TIMEOUT).toMillis());
    }

    /** Returns the limit of the bytes of all pages in assembly. */
    public static long memoryBytesMax(ConfigValues values) {
        long configured = values.get(EsiKeys.MEMORY);
        return configured == 0 ? Runtime.getRuntime().maxMemory() / HEAP_PER_PAGE_BYTE : configured;
    }
}
