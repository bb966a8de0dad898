package io.millrace.proxy.observe.log.output;

/** The choice of the lines of a sampled log. */
public enum SampleBy {
    /** A counter: the first line, then each Nth. */
    REQUEST,
    /** A hash of the URL. */
    URL,
    /** A hash of the client's address. */
    CLIENT
}
