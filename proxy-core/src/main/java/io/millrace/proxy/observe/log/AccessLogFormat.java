package io.millrace.proxy.observe.log;

/** The line formats of the access log; {@code docs/logs.md} draws them. */
public enum AccessLogFormat {
    /** The format of Squid and Traffic Server: result codes of the TCP_HIT family, sizes with the head. */
    SQUID,
    /** Apache's combined format: sizes without the head, Referer and User-Agent quoted. */
    COMBINED
}
