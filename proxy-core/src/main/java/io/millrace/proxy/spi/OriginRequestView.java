package io.millrace.proxy.spi;

/**
 * A request to the origin.
 *
 * <p>Valid during the call of the hook only, and on its thread.
 */
public interface OriginRequestView {
    /** The client's request that began the fetch. */
    RequestView request();

    /** Path and query for the origin, as in the request line. */
    String target();

    /** The fields for the origin. */
    MutableFields fields();
}
