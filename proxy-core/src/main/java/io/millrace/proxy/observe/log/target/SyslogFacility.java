package io.millrace.proxy.observe.log.target;

/** The facilities of syslog messages, in the order of their codes (RFC 5424 s6.2.1). */
public enum SyslogFacility {
    KERN,
    USER,
    MAIL,
    DAEMON,
    AUTH,
    SYSLOG,
    LPR,
    NEWS,
    UUCP,
    CRON,
    AUTHPRIV,
    FTP,
    NTP,
    AUDIT,
    ALERT,
    CLOCK,
    LOCAL0,
    LOCAL1,
    LOCAL2,
    LOCAL3,
    LOCAL4,
    LOCAL5,
    LOCAL6,
    LOCAL7;

    /** The code, 0 to 23. */
    @SuppressWarnings("EnumOrdinal") // the constants have the order of the codes in RFC 5424
    public int code() {
        return ordinal();
    }
}
