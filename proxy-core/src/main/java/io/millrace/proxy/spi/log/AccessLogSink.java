package io.millrace.proxy.spi.log;

/**
 * The receiver of the records of finished requests, with the values of an access log. An element of {@code log.access}
 * with the target {@code extension:NAME} selects the requests by its filter and sample. Without such an element, the
 * extension gets the records of all requests.
 *
 * <p>The records wait in a queue of 1 MiB. A slow receiver delays neither requests nor other logs: while the queue is
 * full, further records are dropped and counted ({@code millrace_log_lines_total}). After an exception, the records of
 * the call are lost and counted too, and the next call passes later records.
 */
public interface AccessLogSink {
    /**
     * Receives records. Called on a separate thread for this extension. The method may block. Before {@code close} of
     * the extension, the last records are passed; the proxy waits for this at most 10 seconds, then interrupts the
     * thread.
     *
     * @throws Exception counts as a failure of the hook
     */
    void records(AccessRecords records) throws Exception;
}
