package io.millrace.proxy.config.admin;

/** The rights of a token of the admin API. */
public enum AdminRole {
    /** Reads everything that the admin API shows; changes nothing. */
    VIEWER,
    /** Purges the sites of its token and reads the records of its own purges. The token limits the kinds of purges. */
    PURGER,
    /** Has every right. */
    OPERATOR
}
