package io.millrace.proxy.spi;

/**
 * The head of a response to one client.
 *
 * <p>Valid during the call of the hook only, and on its thread.
 */
public interface DeliveredResponse {
    /** The status code. */
    int status();

    /** The cache result as in metrics, such as {@code hit}, {@code miss} or {@code stale}. */
    String cacheResult();

    /** The fields. Changes reach this client only. */
    MutableFields fields();
}
