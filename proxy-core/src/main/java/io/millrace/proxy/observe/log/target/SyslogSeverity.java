package io.millrace.proxy.observe.log.target;

/** The severities of syslog messages, in the order of their codes (RFC 5424 s6.2.1). */
public enum SyslogSeverity {
    EMERG,
    ALERT,
    CRIT,
    ERR,
    WARNING,
    NOTICE,
    INFO,
    DEBUG;

    /** The code, 0 to 7. */
    @SuppressWarnings("EnumOrdinal") // the constants have the order of the codes in RFC 5424
    public int code() {
        return ordinal();
    }
}
