package io.millrace.store;

/** The way a volume writes records: through the page cache of the kernel, or past it with O_DIRECT. */
public enum DirectWrites {
    /** Bypasses the page cache on block devices; uses it for files, and if the device refuses O_DIRECT. */
    AUTO,
    /** Bypasses the page cache. The volume cannot be opened if its file system refuses O_DIRECT. */
    ON,
    /** Uses the page cache. */
    OFF
}
