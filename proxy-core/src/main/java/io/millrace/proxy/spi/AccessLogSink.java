package io.millrace.proxy.spi;

/** A receiver of access log records. */
public interface AccessLogSink {
    /**
     * Gets one record. Called on the thread that writes access logs, in the order of the records. If the sink is too
     * slow, records are dropped and counted.
     *
     * @param json one JSON object without a line end, with the members of the log format {@code json}
     */
    void logged(String json);
}
